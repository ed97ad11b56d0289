//! Ops as programs call them.

use std::cell::Cell;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::Once;

use retrograd::engine;
use retrograd::ops::{self, Interpolation, KlReduction, MatrixNorm, Padding, Reduction, RoundingMode, Triangle};
use retrograd::{DType, ErrorKind, Generator, Result, Tensor};

fn tensor(values: &[f64], sizes: &[usize]) -> Tensor {
    Tensor::from(engine::Tensor::from_slice(values, sizes).expect("a tensor"))
}

fn values(tensor: &Tensor) -> Vec<f64> {
    let tensor = ops::detach(&tensor.to(DType::Float64));
    tensor.engine().to_vec::<f64>().expect("numbers")
}

fn sizes(tensor: &Tensor) -> &[usize] {
    tensor.engine().sizes()
}

/// The numbers from 1 to 6 in two rows, with their signs mixed.
fn matrix() -> Tensor {
    tensor(&[1.0, -2.0, 3.0, -4.0, 5.0, -6.0], &[2, 3])
}

#[test]
fn operands_are_references_tensors_and_numbers() {
    let x = matrix();
    let doubled: Vec<f64> = values(&x).iter().map(|v| 2.0 * v).collect();
    assert_eq!(values(&x.add(&x)), doubled);
    assert_eq!(values(&x.add(x.clone())), doubled);
    assert_eq!(values(&x.mul(2)), doubled);
    assert_eq!(values(&ops::mul(2.0, &x)), doubled);
    assert_eq!(values(&ops::add_with(&x, &x, |o| o.alpha(-0.5))), values(&x.mul(0.5)));
    // A number is of the tensor's dtype, if that can have it.
    let small = x.to(DType::Float32);
    assert_eq!(small.mul(2.5).engine().dtype(), DType::Float32);
    assert_eq!(small.to(DType::Int64).mul(2.5).engine().dtype(), DType::Float32);
    assert_eq!(values(&ops::clamp_with(&x, |o| o.min(-2).max(2.5))), [1.0, -2.0, 2.5, -2.0, 2.5, -2.0]);
    let zero = tensor(&[0.0], &[1]);
    assert_eq!(values(&x.clamp_with(|o| o.max(&zero))), [0.0, -2.0, 0.0, -4.0, 0.0, -6.0]);
}

/// A size of one tensor counts for the next op as it is.
#[test]
fn counts_are_usize() {
    let x = matrix();
    let (rows, columns) = (x.size(0), x.shape()[1]);
    assert_eq!(sizes(&Tensor::eye_with(rows, |o| o.m(columns))), [2, 3]);
    assert_eq!(x.chunk_dim(columns, 1).len(), columns);
    assert_eq!(sizes(&x.narrow(-1, -2, columns - 1)), [2, 2]);
    let labels = Tensor::randperm(columns);
    assert_eq!(sizes(&ops::nn::one_hot(&labels)), [3, 3]);
    assert_eq!(sizes(&ops::nn::one_hot_with(&labels, |o| o.num_classes(rows + columns))), [3, 5]);
    // What can be negative is signed.
    assert_eq!(values(&x.rot90_with(|o| o.k(-1))), [-4.0, 1.0, 5.0, -2.0, -6.0, 3.0]);
    assert_eq!(values(&x.select(1, -1)), [3.0, -6.0]);
    let halved = tensor(&[0.5, 0.0, 0.0, 0.25], &[2, 2]);
    assert_eq!(values(&ops::linalg::matrix_power(&halved, -1)), [2.0, 0.0, 0.0, 4.0]);
    // A count that no `i64` has is too large, and no negative number.
    for refused in [Tensor::try_eye(usize::MAX).map(drop), Tensor::try_randperm(usize::MAX).map(drop)] {
        let error = refused.unwrap_err().to_string();
        assert!(!error.contains("negative") && !error.contains("-1"), "{error}");
    }
    assert!(x.try_chunk(0).unwrap_err().to_string().contains("chunk expects `chunks` to be greater than 0"));
    assert_eq!(x.chunk(usize::MAX).len(), 2);
}

#[test]
fn a_divergence_is_divided_by_its_samples() {
    let (input, target) = (matrix(), matrix().abs());
    let with = |reduction| ops::nn::kl_div_with(&input, &target, |o| o.reduction(reduction));
    let [each, whole, of_sample] = [KlReduction::None, KlReduction::Sum, KlReduction::BatchMean].map(with);
    assert_eq!(sizes(&each), [2, 3]);
    assert_eq!(values(&of_sample)[0], values(&whole)[0] / 2.0);
}

#[test]
fn reductions_take_no_dimension_one_or_several() {
    let x = matrix();
    assert_eq!(values(&x.sum()), [-3.0]);
    assert_eq!(values(&x.sum_dim(1)), [2.0, -5.0]);
    assert_eq!(values(&x.sum_dim([0, -1])), [-3.0]);
    let kept = x.sum_with(|o| o.dim(0).keepdim(true).dtype(DType::Float32));
    assert_eq!((sizes(&kept), kept.engine().dtype()), (&[1, 3][..], DType::Float32));
    assert_eq!(values(&kept), [-3.0, 3.0, -3.0]);
    assert_eq!(values(&x.sum_with(|o| o.dtype(DType::Int64))), [-3.0]);
    assert_eq!(values(&ops::mean_dim(&x, -1)), [2.0 / 3.0, -5.0 / 3.0]);
    assert_eq!(values(&x.amax_dim([0])), [1.0, 5.0, 3.0]);
    assert_eq!(values(&x.var_with(|o| o.dim(1).correction(0))), [38.0 / 9.0, 206.0 / 9.0]);
    assert_eq!(values(&x.gt(0).all_dim(0)), [0.0, 0.0, 0.0]);
    assert_eq!(values(&x.argmax()), [4.0]);
    assert_eq!(values(&x.argmax_dim(1)), [2.0, 1.0]);
    assert_eq!(values(&x.prod_dim_with(0, |o| o.keepdim(true))), [-4.0, -10.0, -18.0]);
    assert_eq!(values(&x.softmax(1).sum_dim(1)), [1.0, 1.0]);
}

#[test]
fn named_results_are_structs_and_others_tuples() {
    let x = matrix();
    let largest = x.max_dim(1);
    assert_eq!((values(&largest.values), values(&largest.indices)), (vec![3.0, 5.0], vec![2.0, 1.0]));
    let sorted = x.sort_with(|o| o.dim(0).descending(true));
    assert_eq!(values(&sorted.values), [1.0, 5.0, 3.0, -4.0, -2.0, -6.0]);
    assert_eq!(values(&sorted.indices), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    let (var, mean) = ops::var_mean_dim(&x, 1);
    assert_eq!((values(&var), values(&mean)), (values(&x.var_dim(1)), values(&x.mean_dim(1))));
    let svd = ops::linalg::svd_with(&x, |o| o.full_matrices(false));
    let product = svd.u.mul(&svd.s).matmul(&svd.vh);
    assert!(product.allclose(&x), "{:?}", values(&product));
    let ops::HistogramDd { hist, bin_edges } = ops::histogramdd(&tensor(&[0.0, 0.0, 1.0, 1.0], &[2, 2]), 2);
    assert_eq!((values(&hist), bin_edges.len()), (vec![1.0, 0.0, 0.0, 1.0], 2));
    let info = ops::linalg::lu_factor_ex(&x.matmul(&x.t())).info;
    assert_eq!(values(&info), [0.0]);
}

#[test]
fn in_place_forms_return_the_tensor() {
    let x = matrix();
    let same = x.mul_(2).add_with_(matrix(), |o| o.alpha(-1));
    assert_eq!(same.engine().id(), x.engine().id());
    assert_eq!(values(&x), values(&matrix()));
    assert_eq!(values(&x.fill_(7)), [7.0; 6]);
    assert_eq!(values(&x.sub(x.div_rounded_(2, RoundingMode::Floor))), [0.0; 6]);
    x.zero_();
    assert_eq!(values(&x), [0.0; 6]);
    let y = matrix();
    assert_eq!(values(&ops::nn::relu(&y)), values(&ops::nn::leaky_relu_with(&y, |o| o.negative_slope(0))));
    assert_eq!(values(&ops::nn::leaky_relu_(&y)), values(&y));
}

#[test]
fn overloads_have_names() {
    assert_eq!(values(&ops::arange(3)), [0.0, 1.0, 2.0]);
    assert_eq!(values(&ops::arange_from(1, 3)), [1.0, 2.0]);
    let stepped = Tensor::arange_from_with(1, 2, |o| o.step(0.5).dtype(DType::Float64));
    assert_eq!(values(&stepped), [1.0, 1.5]);
    let x = matrix();
    assert_eq!(values(&x.max()), [5.0]);
    assert_eq!(values(&x.max_of(&x.neg())), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let even = x.split_with(2, |o| o.dim(1));
    assert_eq!(even.iter().map(|part| sizes(part)[1]).collect::<Vec<_>>(), [2, 1]);
    let uneven = ops::split_sections_dim(&x, [1, 2], 1);
    assert_eq!(values(&uneven[1]), [-2.0, 3.0, 5.0, -6.0]);
    assert_eq!(values(&x.where_self(&x.gt(0), 0)), [1.0, 0.0, 3.0, 0.0, 5.0, 0.0]);
    assert_eq!(values(&ops::where_nonzero(&x.gt(0))[1]), [0.0, 2.0, 1.0]);
    assert_eq!(values(&x.quantile(0.5)), [-0.5]);
    assert_eq!(values(&x.quantiles(&tensor(&[0.0, 1.0], &[2]))), [-6.0, 5.0]);
    assert_eq!(sizes(&x.squeeze_dims([0, 1])), [2, 3]);
    assert_eq!(sizes(&tensor(&[1.0], &[1, 1]).squeeze()), [0_usize; 0]);
}

#[test]
fn choices_are_enums() {
    let (x, y) = (matrix(), matrix().mul(0.5));
    let each = ops::nn::mse_loss_with(&x, &y, |o| o.reduction(Reduction::None));
    assert_eq!(values(&each), [0.25, 1.0, 2.25, 4.0, 6.25, 9.0]);
    let sum = ops::nn::mse_loss_with(&x, &y, |o| o.reduction(Reduction::Sum));
    assert_eq!((values(&sum), values(&ops::nn::mse_loss(&x, &y))), (vec![22.75], vec![22.75 / 6.0]));
    assert_eq!(values(&ops::linalg::matrix_norm(&tensor(&[3.0, 0.0, 0.0, 4.0], &[2, 2]))), [5.0]);
    let nuclear = ops::norm_with(&tensor(&[3.0, 0.0, 0.0, 4.0], &[2, 2]), |o| o.p(MatrixNorm::Nuc));
    assert!(nuclear.allclose(&tensor(&[7.0], &[])), "{:?}", values(&nuclear));
    let symmetric = tensor(&[2.0, 9.0, 0.0, 1.0], &[2, 2]);
    assert_eq!(values(&ops::linalg::eigvalsh(&symmetric)), [1.0, 2.0]);
    let upper = ops::linalg::eigvalsh_with(&symmetric, |o| o.uplo(Triangle::Upper));
    assert!(!upper.allclose(&tensor(&[1.0, 2.0], &[2])), "the upper triangle has a 9");
    let image = tensor(&[1.0, 2.0, 3.0, 4.0], &[1, 1, 2, 2]);
    let large = ops::nn::interpolate_with(&image, |o| o.scale_factor([2.0, 2.0]).mode(Interpolation::Nearest));
    assert_eq!((sizes(&large), values(&large)[..4].to_vec()), (&[1, 1, 4, 4][..], vec![1.0, 1.0, 2.0, 2.0]));
}

#[test]
fn paddings_are_sizes_or_a_name() {
    let (x, weight) = (tensor(&[1.0, 2.0, 3.0], &[1, 1, 3]), tensor(&[1.0, 1.0, 1.0], &[1, 1, 3]));
    assert_eq!(values(&ops::nn::conv1d(&x, &weight)), [6.0]);
    let padded = ops::nn::conv1d_with(&x, &weight, |o| o.padding(1));
    assert_eq!(values(&padded), [3.0, 6.0, 5.0]);
    assert_eq!(values(&ops::conv1d_with(&x, &weight, |o| o.padding(Padding::Same))), values(&padded));
    let bias = tensor(&[10.0], &[1]);
    let biased = ops::nn::conv1d_with(&x, &weight, |o| o.padding(Padding::Valid).bias(&bias));
    assert_eq!(values(&biased), [16.0]);
}

#[test]
fn lists_of_tensors_are_slices_arrays_and_references() {
    let (a, b) = (tensor(&[1.0], &[1]), tensor(&[2.0], &[1]));
    let list = [a.clone(), b.clone()];
    for joined in [ops::cat([&a, &b]), ops::cat(&list), ops::cat(&list[..]), ops::cat(list.to_vec())] {
        assert_eq!(values(&joined), [1.0, 2.0]);
    }
    assert_eq!(sizes(&ops::stack_dim([&a, &b], 1)), [1, 2]);
    assert_eq!(values(&ops::einsum("i,i->i", [&a, &b])), [2.0]);
    assert_eq!(sizes(&ops::meshgrid([&a, &ops::cat(&list)])[0]), [1, 2]);
    let parts = matrix().unbind_dim(1);
    assert_eq!(parts.iter().map(values).collect::<Vec<_>>(), [[1.0, -4.0], [-2.0, 5.0], [3.0, -6.0]]);
}

#[test]
fn what_is_drawn_follows_the_seed_of_a_generator() {
    let draw = |seed| {
        let generator = Generator::new(seed);
        values(&Tensor::randn_with([4, 2], |o| o.generator(&generator).dtype(DType::Float64)))
    };
    assert_eq!(draw(3), draw(3));
    assert_ne!(draw(3), draw(4));
    let (first, second) = (Generator::new(5), Generator::new(5));
    let x = matrix();
    let drawn = values(&x.uniform_with_(|o| o.from(2.0).to(3.0).generator(&first)));
    assert!(drawn.iter().all(|v| (2.0..3.0).contains(v)), "{drawn:?}");
    assert_eq!(drawn, values(&x.uniform_with_(|o| o.from(2.0).to(3.0).generator(&second))));
}

#[test]
fn factories_make_leaves_of_the_default_dtype() {
    let zeros = Tensor::zeros([2, 3]);
    assert_eq!((sizes(&zeros), zeros.engine().dtype()), (&[2, 3][..], DType::Float32));
    let weights = Tensor::ones_with([2], |o| o.dtype(DType::Float64).requires_grad(true));
    assert!(weights.engine().requires_grad() && weights.engine().is_leaf());
    let loss = weights.mul(tensor(&[0.5, -2.0], &[2])).sum();
    engine::autograd::backward(loss.engine()).expect("a gradient");
    assert_eq!(values(&Tensor::from(weights.engine().grad().expect("a gradient"))), [0.5, -2.0]);
    assert_eq!(values(&Tensor::full([2], 1.5)), [1.5, 1.5]);
    let bools = Tensor::full([2], true);
    assert_eq!(bools.engine().dtype(), DType::Bool);
    assert_eq!(ops::zeros_like(&bools).engine().dtype(), DType::Bool);
}

#[test]
fn results_are_numbers_bools_and_dtypes_too() {
    let x = matrix();
    assert!(x.allclose(&x) && !x.equal(&x.neg()) && x.is_signed());
    assert_eq!(x.get_device(), -1);
    assert_eq!(ops::promote_types(DType::Int64, DType::Float32), DType::Float32);
    assert_eq!(ops::result_type(&x.to(DType::Float32), 1.0), DType::Float32);
}

#[test]
fn unique_has_lists_where_more_is_asked_for() {
    let x = tensor(&[2.0, 1.0, 2.0], &[3]);
    assert_eq!(values(&x.unique()), [1.0, 2.0]);
    let parts = x.unique_with(|o| o.return_counts(true));
    assert_eq!(parts.iter().map(values).collect::<Vec<_>>(), [[1.0, 2.0], [1.0, 2.0]]);
    assert_eq!(values(&ops::nn::max_pool1d(&tensor(&[1.0, 3.0, 2.0, 0.0], &[1, 1, 4]), 2)), [3.0, 2.0]);
    let (_, at) = ops::nn::max_pool1d_with_indices(&tensor(&[1.0, 3.0, 2.0, 0.0], &[1, 1, 4]), 2);
    assert_eq!(values(&at), [1.0, 2.0]);
    assert_eq!(sizes(&ops::nn::adaptive_avg_pool2d(&tensor(&[0.0; 12], &[1, 1, 4, 3]), [Some(2), None])), [1, 1, 2, 3]);
}

#[test]
fn a_mistake_is_an_error_of_the_twin() {
    let (x, y) = (matrix(), tensor(&[1.0; 4], &[4]));
    let error = x.try_add(&y).expect_err("the shapes do not broadcast");
    assert!(matches!(error.kind(), ErrorKind::Broadcast { .. }), "{error:?}");
    assert!(error.to_string().contains("The size of tensor a (3) must match the size of tensor b (4)"), "{error}");
    assert!(ops::try_sum_with(&x, |o| o.dim(2)).is_err());
    assert!(x.try_sum_dim(2).is_err());
    assert!(x.try_add_(&y).is_err());
    assert!(Tensor::try_zeros([-1]).is_err());
    let sum = || -> Result<Tensor> { x.try_mul(2)?.try_sum() };
    assert_eq!(values(&sum().expect("shapes agree")), [-6.0]);
}

/// What a call that panics says, and the line of this file that it blames.
fn blamed(call: impl FnOnce() + std::panic::UnwindSafe) -> (String, u32) {
    thread_local! {
        static LINE: Cell<Option<u32>> = const { Cell::new(None) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| match (LINE.get(), info.location()) {
            (Some(_), Some(place)) => LINE.set(Some(if place.file() == file!() { place.line() } else { 0 })),
            _ => before(info),
        }));
    });
    LINE.set(Some(0));
    let caught = catch_unwind(call);
    let line = LINE.take().expect("the hook keeps a line");
    let text = caught.expect_err("the call panics").downcast::<String>().expect("the text of an error");
    (*text, line)
}

#[test]
fn a_mistake_is_a_panic_at_the_callers_line() {
    fn check(call: impl Fn(&Tensor, &Tensor) + std::panic::RefUnwindSafe, line: u32, says: &str) {
        let (text, blamed) = blamed(|| call(&matrix(), &tensor(&[1.0; 4], &[4])));
        assert!(text.contains(says), "{text}");
        assert_eq!(blamed, line, "{text}");
    }
    let mismatch = "The size of tensor a (3) must match the size of tensor b (4)";
    check(|x, y| drop(x.add(y)), line!(), mismatch);
    check(|x, y| drop(ops::add(x, y)), line!(), mismatch);
    check(|x, y| drop(x.add_with(y, |o| o.alpha(2))), line!(), mismatch);
    check(|x, y| drop(x.mul_(y)), line!(), "mul_");
    check(|x, _| drop(x.sum_dim(5)), line!(), "Dimension out of range");
    check(|x, _| drop(x.sum_with(|o| o.dim(5))), line!(), "Dimension out of range");
    check(|_, _| drop(Tensor::zeros([-2])), line!(), "negative dimension");
    check(|x, y| drop(ops::linalg::inv(&x.mm(y))), line!(), "mm");
}

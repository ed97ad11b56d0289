//! Layers against torch's numbers: first values, results, gradients and buffers.

use std::collections::BTreeMap;

use retrograd::engine::Tensor as Inner;
use retrograd::engine::autograd::backward;
use retrograd::engine::generator::manual_seed;
use retrograd::nn::{
    BatchNorm1d, BatchNorm2d, Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Dropout,
    Embedding, Forward, GroupNorm, Gru, LayerNorm, Linear, Lstm, Module, MultiheadAttention, Padding, PaddingMode,
    RmsNorm, init,
};
use retrograd::{DType, Result, Tensor};

use super::{drawing, parameter, values};

#[path = "records.rs"]
mod records;

use records::{Digest, ROWS};

fn digest(t: &Inner) -> Result<(Vec<usize>, [f64; 3])> {
    let flat = t.detach().to_vec::<f64>()?;
    let sum = |weight: &dyn Fn(f64) -> f64| flat.iter().zip(1..).map(|(x, i)| x * weight(f64::from(i))).sum::<f64>();
    let sizes = [flat.iter().map(|x| x.abs()).sum(), sum(&|i| (i * 0.7).cos()), sum(&|i| (i * i * 0.3).sin())];
    Ok((t.sizes().to_vec(), sizes))
}

fn assert_digest(t: &Inner, want: &Digest, row: usize) -> Result<()> {
    let (name, sizes, numbers) = want;
    let (got_sizes, got) = digest(t)?;
    assert_eq!(got_sizes, *sizes, "row {row}, {name}");
    for (a, b) in got.iter().zip(numbers) {
        // Sums of rounded numbers, which grow with what is summed.
        assert!((a - b).abs() <= 2e-5 * (1.0 + numbers[0]), "row {row}, {name}: {got:?} is not {numbers:?}");
    }
    Ok(())
}

/// Normals, as leaves that require grad.
fn randn(sizes: &[usize]) -> Result<Tensor> {
    let t = Inner::zeros(sizes, DType::Float32)?;
    t.normal_(0.0, 1.0, None)?;
    t.set_requires_grad(true)?;
    Ok(t.into())
}

fn indices(values: &[i64]) -> Result<Vec<Tensor>> {
    Ok(vec![Inner::from_slice(values, &[values.len()])?.into()])
}

/// Holds a layer against a row: what it begins with, what it makes of inputs, and the gradients.
fn check<M: Module>(
    row: usize,
    make: impl FnOnce() -> M,
    inputs: impl FnOnce() -> Result<Vec<Tensor>>,
    run: impl FnOnce(&M, &[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<()> {
    let (_, trained, want) = ROWS.iter().find(|(number, ..)| *number == row).expect("a row");
    manual_seed(1);
    let mut layer = make();
    layer.train(*trained);
    manual_seed(2);
    let inputs = inputs()?;
    let of = |kind: &str| -> Vec<(String, Digest)> {
        let own = |d: &&Digest| d.0.strip_prefix(kind).is_some_and(|rest| rest.starts_with(' '));
        want.iter().filter(own).map(|d| (d.0[kind.len() + 1..].to_owned(), *d)).collect()
    };
    let initial = of("initial");
    let state = layer.state_dict();
    let mut known: Vec<&String> = initial.iter().map(|(name, _)| name).collect();
    known.sort();
    assert_eq!(state.keys().collect::<Vec<_>>(), known, "row {row}");
    for (name, want) in &initial {
        assert_digest(state[name].engine(), want, row)?;
    }
    manual_seed(3);
    let outputs = run(&layer, &inputs)?;
    assert_eq!(outputs.len(), of("output").len(), "row {row}");
    for (out, (_, want)) in outputs.iter().zip(&of("output")) {
        assert_digest(out.engine(), want, row)?;
    }
    let state = layer.state_dict();
    for (name, want) in of("changed") {
        assert_digest(state[&name].engine(), &want, row)?;
    }
    let gradients = of("gradient");
    let mut total = Inner::zeros(&[], outputs[0].engine().dtype())?;
    for out in outputs.iter().map(Tensor::engine).filter(|out| out.requires_grad()) {
        let cosines: Vec<f64> = (1..=out.numel()).map(|i| (i as f64).cos()).collect();
        let weights = Inner::zeros(out.sizes(), out.dtype())?;
        weights.copy_(&Inner::from_slice(&cosines, out.sizes())?)?;
        total = total.add(&out.mul(&weights)?.sum(None)?)?;
    }
    if total.requires_grad() {
        backward(&total)?;
    }
    let parameters: BTreeMap<String, Tensor> = layer.named_parameters().into_iter().collect();
    for (name, want) in gradients {
        let leaf = match name.strip_prefix("input ") {
            Some(i) => &inputs[i.parse::<usize>().unwrap()],
            None => &parameters[&name],
        };
        assert_digest(&leaf.engine().grad().expect("a gradient"), &want, row)?;
    }
    Ok(())
}

fn forward<M: Forward>(layer: &M, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    Ok(vec![layer.try_forward(&inputs[0])?])
}

fn one(sizes: &'static [usize]) -> impl FnOnce() -> Result<Vec<Tensor>> {
    move || Ok(vec![randn(sizes)?])
}

#[test]
fn layers_are_those_of_torch() -> Result<()> {
    let _turn = drawing();
    check(1, || Linear::new(5, 3), one(&[2, 5]), forward)?;
    check(2, || Linear::with(5, 3, |o| o.bias(false)), one(&[4, 2, 5]), forward)?;
    let double = || {
        let x: Tensor = Inner::from_slice(&randn(&[2, 5])?.engine().detach().to_vec::<f64>()?, &[2, 5])?.into();
        x.engine().set_requires_grad(true)?;
        Ok(vec![x])
    };
    check(4, || Linear::with(5, 3, |o| o.dtype(DType::Float64)), double, forward)?;
    check(10, || Conv1d::new(4, 6, 3), one(&[2, 4, 9]), forward)?;
    check(11, || Conv1d::with(4, 6, 3, |o| o.padding(Padding::Same).dilation(2)), one(&[4, 9]), forward)?;
    let valid = || Conv1d::with(4, 6, 3, |o| o.padding(Padding::Valid).bias(false).groups(2));
    check(13, valid, one(&[2, 4, 9]), forward)?;
    let reflected = || Conv1d::with(4, 6, 4, |o| o.padding(Padding::Same).padding_mode(PaddingMode::Reflect));
    check(12, reflected, one(&[2, 4, 9]), forward)?;
    check(14, || Conv2d::new(3, 4, 3), one(&[2, 3, 6, 7]), forward)?;
    let strided = || Conv2d::with(4, 4, [3, 2], |o| o.stride([2, 1]).padding([1, 0]).dilation([1, 2]).groups(2));
    check(15, strided, one(&[2, 4, 6, 7]), forward)?;
    for (row, mode) in [(16, PaddingMode::Reflect), (17, PaddingMode::Replicate), (18, PaddingMode::Circular)] {
        let padded = || Conv2d::with(3, 4, 3, |o| o.padding([1, 2]).padding_mode(mode));
        check(row, padded, one(&[2, 3, 6, 7]), forward)?;
    }
    let circular = || Conv2d::with(3, 4, [2, 3], |o| o.padding(Padding::Same).padding_mode(PaddingMode::Circular));
    check(19, circular, one(&[3, 6, 7]), forward)?;
    check(20, || Conv3d::with(2, 4, [1, 2, 3], |o| o.stride(2).padding(1)), one(&[1, 2, 3, 4, 5]), forward)?;
    let replicated = || Conv3d::with(2, 4, 2, |o| o.padding(1).padding_mode(PaddingMode::Replicate).bias(false));
    check(21, replicated, one(&[2, 3, 4, 5]), forward)?;
    check(22, || ConvTranspose1d::with(4, 6, 3, |o| o.stride(2)), one(&[2, 4, 5]), forward)?;
    let longer = || ConvTranspose1d::with(4, 6, 3, |o| o.stride(2).output_padding(1).groups(2));
    check(23, longer, one(&[4, 5]), forward)?;
    let narrow = || ConvTranspose2d::with(4, 3, 3, |o| o.stride(2).padding(1));
    check(24, narrow, one(&[2, 4, 3, 4]), forward)?;
    check(25, narrow, one(&[2, 4, 3, 4]), |layer, x| Ok(vec![layer.try_forward_to(&x[0], [6, 8])?]))?;
    let dilated = || ConvTranspose2d::with(4, 3, [2, 3], |o| o.dilation(2).bias(false));
    check(26, dilated, one(&[4, 3, 4]), forward)?;
    let deep = || ConvTranspose3d::with(4, 2, 2, |o| o.stride([1, 2, 1]).output_padding([0, 1, 0]));
    check(27, deep, one(&[1, 4, 2, 3, 2]), forward)?;
    check(254, || Embedding::with(7, 4, |o| o.padding_idx(5)), || indices(&[5, 1, 5, 6]), forward)?;
    let renormed = || Embedding::with(7, 4, |o| o.padding_idx(0).max_norm(1.0).norm_type(1.5));
    check(255, renormed, || indices(&[0, 1, 5, 1]), forward)?;
    check(256, || Embedding::with(7, 4, |o| o.scale_grad_by_freq(true)), || indices(&[0, 1, 5, 1]), forward)?;
    for (row, p) in [(234, 0.5), (235, 0.5), (236, 0.2)] {
        check(row, || Dropout::new(p), one(&[3, 20]), forward)?;
    }
    Ok(())
}

#[test]
fn normalizations_are_those_of_torch() -> Result<()> {
    let _turn = drawing();
    check(104, || BatchNorm1d::new(3), one(&[4, 3, 5]), forward)?;
    check(105, || BatchNorm1d::new(3), one(&[4, 3, 5]), forward)?;
    check(106, || BatchNorm1d::with(3, |o| o.momentum(Some(0.3))), one(&[4, 3, 5]), forward)?;
    for row in [108, 109] {
        let untracked = || BatchNorm1d::with(3, |o| o.eps(0.001).track_running_stats(false).bias(false));
        check(row, untracked, one(&[4, 3, 5]), forward)?;
    }
    check(123, || BatchNorm1d::with(3, |o| o.momentum(None)), one(&[4, 3, 5]), forward)?;
    check(124, || BatchNorm2d::new(3), one(&[4, 3, 2, 3]), forward)?;
    check(125, || BatchNorm2d::new(3), one(&[4, 3, 2, 3]), forward)?;
    check(164, || BatchNorm1d::new(3), one(&[4, 3]), forward)?;
    check(166, || BatchNorm2d::with(3, |o| o.affine(false)), one(&[4, 3, 2, 3]), forward)?;
    check(169, || LayerNorm::new(5), one(&[2, 3, 5]), forward)?;
    check(170, || LayerNorm::with([3, 5], |o| o.eps(0.001).bias(false)), one(&[2, 3, 5]), forward)?;
    check(171, || LayerNorm::with(5, |o| o.elementwise_affine(false)), one(&[2, 5]), forward)?;
    check(172, || GroupNorm::new(2, 4), one(&[2, 4, 3]), forward)?;
    check(173, || GroupNorm::with(4, 4, |o| o.eps(0.001).bias(false)), one(&[2, 4, 3]), forward)?;
    check(174, || GroupNorm::with(1, 4, |o| o.affine(false)), one(&[2, 4, 3, 2]), forward)?;
    check(175, || RmsNorm::new(5), one(&[2, 5]), forward)?;
    check(176, || RmsNorm::with([3, 5], |o| o.eps(0.001).elementwise_affine(false)), one(&[2, 3, 5]), forward)
}

#[test]
fn recurrent_layers_are_those_of_torch() -> Result<()> {
    let _turn = drawing();
    fn lstm(layer: &Lstm, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let (out, (h, c)) = match inputs {
            [x, h, c] => layer.try_forward_from(x, &(h.clone(), c.clone()))?,
            _ => layer.try_forward(&inputs[0])?,
        };
        Ok(vec![out, h, c])
    }
    fn gru(layer: &Gru, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let (out, h) = match inputs {
            [x, h] => layer.try_forward_from(x, h)?,
            _ => layer.try_forward(&inputs[0])?,
        };
        Ok(vec![out, h])
    }
    check(279, || Lstm::new(3, 4), one(&[5, 2, 3]), lstm)?;
    let both = || Lstm::with(3, 4, |o| o.num_layers(2).bidirectional(true).batch_first(true));
    check(280, both, one(&[2, 5, 3]), lstm)?;
    check(281, || Lstm::with(3, 4, |o| o.bias(false)), one(&[5, 3]), lstm)?;
    let three = || Ok(vec![randn(&[5, 2, 3])?, randn(&[2, 2, 4])?, randn(&[2, 2, 4])?]);
    check(284, || Lstm::with(3, 4, |o| o.num_layers(2)), three, lstm)?;
    for row in [286, 287] {
        check(row, || Lstm::with(3, 20, |o| o.num_layers(2).dropout(0.5)), one(&[5, 2, 3]), lstm)?;
    }
    check(291, || Gru::new(3, 4), one(&[5, 2, 3]), gru)?;
    let both = || Gru::with(3, 4, |o| o.num_layers(2).bidirectional(true).batch_first(true));
    check(292, both, one(&[2, 5, 3]), gru)?;
    check(293, || Gru::with(3, 4, |o| o.bias(false)), one(&[5, 3]), gru)?;
    check(296, || Gru::with(3, 4, |o| o.num_layers(2)), || Ok(vec![randn(&[5, 2, 3])?, randn(&[2, 2, 4])?]), gru)
}

#[test]
fn attention_is_that_of_torch() -> Result<()> {
    let _turn = drawing();
    fn same(sizes: &'static [usize]) -> impl FnOnce() -> Result<Vec<Tensor>> {
        move || randn(sizes).map(|x| vec![x; 3])
    }
    fn attend(layer: &MultiheadAttention, x: &[Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![layer.try_forward(&x[0], &x[1], &x[2])?])
    }
    let usual = || MultiheadAttention::new(8, 2);
    check(310, usual, same(&[5, 2, 8]), attend)?;
    check(312, usual, same(&[5, 2, 8]), |layer, x| {
        Ok(vec![layer.try_forward_with(&x[0], &x[1], &x[2], |o| o.is_causal(true))?])
    })?;
    let padding = [false, false, true, false, true, false, false, false, true, true];
    let padding: Tensor = Inner::from_slice(&padding, &[2, 5])?.into();
    check(314, usual, same(&[5, 2, 8]), |layer, x| {
        Ok(vec![layer.try_forward_with(&x[0], &x[1], &x[2], |o| o.key_padding_mask(&padding))?])
    })?;
    let with_mask = || {
        let x = randn(&[5, 2, 8])?;
        Ok(vec![x.clone(), x.clone(), x, randn(&[4, 5, 5])?])
    };
    check(315, usual, with_mask, |layer, x| {
        Ok(vec![layer.try_forward_with(&x[0], &x[1], &x[2], |o| o.attn_mask(&x[3]))?])
    })?;
    check(316, || MultiheadAttention::with(8, 2, |o| o.bias(false)), same(&[5, 8]), attend)?;
    let batch_first = || MultiheadAttention::with(8, 2, |o| o.batch_first(true));
    let two = || {
        let (query, x) = (randn(&[2, 3, 8])?, randn(&[2, 5, 8])?);
        Ok(vec![query, x.clone(), x])
    };
    check(317, batch_first, two, attend)?;
    let three = |[q, k, v]: [&'static [usize]; 3]| move || Ok(vec![randn(q)?, randn(k)?, randn(v)?]);
    let sizes = || MultiheadAttention::with(8, 4, |o| o.kdim(3).vdim(6));
    check(319, sizes, three([&[3, 2, 8], &[5, 2, 3], &[5, 2, 6]]), attend)?;
    let without = || MultiheadAttention::with(8, 4, |o| o.vdim(6).bias(false));
    check(320, without, three([&[3, 2, 8], &[5, 2, 8], &[5, 2, 6]]), attend)?;

    // What is causal by a mask is so together with another mask.
    let (layer, x) = (usual(), randn(&[5, 2, 8])?);
    let nothing: Tensor = Inner::from_slice(&[false; 10], &[2, 5])?.into();
    let causal = layer.forward_with(&x, &x, &x, |o| o.is_causal(true));
    let both = layer.forward_with(&x, &x, &x, |o| o.is_causal(true).key_padding_mask(&nothing));
    for (a, b) in values(&causal).iter().zip(values(&both)) {
        assert!((a - b).abs() < 1e-6);
    }
    let refused = layer.try_forward_with(&x, &x, &x, |o| o.attn_mask(&nothing)).unwrap_err().to_string();
    assert!(refused.contains("The shape of the attn_mask is [2, 5], but should be [5, 5] or [4, 5, 5]"), "{refused}");
    let refused = layer.try_forward(&randn(&[5, 2, 6])?, &x, &x).unwrap_err().to_string();
    assert!(refused.contains("was expecting embedding dimension of 8, but got 6"), "{refused}");
    let refused = MultiheadAttention::try_new(8, 3).unwrap_err().to_string();
    assert!(refused.contains("embed_dim must be divisible by num_heads"), "{refused}");
    Ok(())
}

#[test]
fn initial_values_are_those_of_torch() -> Result<()> {
    let _turn = drawing();
    // The first four values from the seed 1: rows of `tests/layers/init.json`.
    type Fill = fn(&Tensor) -> Tensor;
    let rows: [(&[usize], Fill, [f64; 4]); 6] = [
        (&[3, 5], |t| init::uniform_(t, -2.0, 3.0), [1.7881579, -0.6034456, 0.0153463, 1.6734223]),
        (&[3, 5], |t| init::normal_(t, 1.0, 2.0), [2.3227043, 1.5338482, 1.1233546, 2.2426348]),
        (&[3, 5], |t| init::xavier_uniform_(t, 2.0), [0.892462, -0.7644895, -0.3357779, 0.8129708]),
        (&[2, 3, 2, 2], |t| init::xavier_uniform_(t, 1.0), [0.2822213, -0.2417528, -0.1061823, 0.257084]),
        (&[18, 16], |t| init::kaiming_normal_(t, 2f64.sqrt()), [-0.5393796, -0.265247, -0.2312172, -0.5690388]),
        (&[2, 3, 2, 2], |t| init::kaiming_normal_(t, 2f64.sqrt()), [-0.6228219, -0.3062809, -0.2669866, -0.6570694]),
    ];
    for (i, (sizes, fill, want)) in rows.into_iter().enumerate() {
        let t = Tensor::from(Inner::zeros(sizes, DType::Float32)?);
        t.engine().set_requires_grad(true)?;
        manual_seed(1);
        let filled = fill(&t);
        assert!(filled.engine().is_same(t.engine()) && t.engine().is_leaf());
        for (a, b) in values(&filled).iter().zip(want) {
            assert!((a - b).abs() < 2e-7 * (1.0 + b.abs()), "row {i}: {a} is not {b}");
        }
    }
    let line = parameter(&[1.0, 2.0]);
    let refused = init::try_xavier_normal_(&line, 1.0).unwrap_err().to_string();
    assert!(refused.contains("can not be computed for tensor with fewer than 2 dimensions"), "{refused}");
    Ok(())
}

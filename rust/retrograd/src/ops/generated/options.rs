//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(
    not(all(feature = "conv", feature = "fft", feature = "linalg", feature = "nn", feature = "rnn")),
    allow(unused_imports)
)]

use crate::operand::Operand;
use crate::ops::{
    Approximate, BagMode, CdistMode, FftNorm, Floats, GridPadding, GridSampleMode, Indexing, Interpolation,
    KlReduction, Layout, LobpcgMethod, LstsqDriver, MatrixNorm, MemoryFormat, Padding, PaddingMode, QrMode,
    QuantileInterpolation, Reduction, Side, SvdDriver, Triangle, as_count,
};
use crate::shape::{Dims, Shape};
use crate::{DType, Generator, Scalar, Tensor};

options! {
    /// Options of `put`, `index_put`.
    AccumulateOptions [] {
        /// Sets `accumulate`, `false` by default.
        accumulate: bool = false, bool => accumulate;
    }
    /// Options of `add`, `sub` and 2 more.
    AlphaOptions [] {
        /// Sets `alpha`, `1` by default.
        alpha: Scalar = Scalar::Int(1), impl Into<Scalar> => alpha.into();
    }
    /// Options of `argmax`, `argmin`, `aminmax`.
    ArgmaxOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<i64> = None, i64 => Some(dim);
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
    }
    /// Options of `logspace`, `logspace_tensors`.
    BaseDtypeRequiresGradOptions [] {
        /// Sets `base`, `10.0` by default.
        base: f64 = 10.0, f64 => base;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `bernoulli`.
    BernoulliOptions ['o] {
        /// Sets `p`, `0.5` by default.
        p: f64 = 0.5, f64 => p;
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `sparse::sampled_addmm`, `sparse::addmm` and 5 more.
    BetaAlphaOptions [] {
        /// Sets `beta`, `1` by default.
        beta: Scalar = Scalar::Int(1), impl Into<Scalar> => beta.into();
        /// Sets `alpha`, `1` by default.
        alpha: Scalar = Scalar::Int(1), impl Into<Scalar> => alpha.into();
    }
    /// Options of `nn::linear`, `nn::bilinear`.
    BiasOptions ['o] {
        /// Sets `bias`, which is not set by default.
        bias: Option<&'o Tensor> = None, &'o Tensor => Some(bias);
    }
    /// Options of `bincount`.
    BincountOptions ['o] {
        /// Sets `weights`, which is not set by default.
        weights: Option<&'o Tensor> = None, &'o Tensor => Some(weights);
        /// Sets `minlength`, `0` by default.
        minlength: i64 = 0, usize => as_count(minlength);
    }
    /// Options of `bucketize`.
    BucketizeOptions [] {
        /// Sets `out_int32`, `false` by default.
        out_int32: bool = false, bool => out_int32;
        /// Sets `right`, `false` by default.
        right: bool = false, bool => right;
    }
    /// Options of `cauchy`.
    CauchyOptions ['o] {
        /// Sets `median`, `0.0` by default.
        median: f64 = 0.0, f64 => median;
        /// Sets `sigma`, `1.0` by default.
        sigma: f64 = 1.0, f64 => sigma;
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `cdist`.
    CdistOptions [] {
        /// Sets `p`, `2.0` by default.
        p: f64 = 2.0, f64 => p;
        /// Sets `compute_mode`, `CdistMode::MmIfNecessary` by default.
        compute_mode: CdistMode = CdistMode::MmIfNecessary, CdistMode => compute_mode;
    }
    /// Options of `combinations`.
    CombinationsOptions [] {
        /// Sets `r`, `2` by default.
        r: i64 = 2, usize => as_count(r);
        /// Sets `with_replacement`, `false` by default.
        with_replacement: bool = false, bool => with_replacement;
    }
    /// Options of `to`, `to_like`.
    CopyMemoryFormatOptions [] {
        /// Sets `copy`, `false` by default.
        copy: bool = false, bool => copy;
        /// Sets `memory_format`, which is not set by default.
        memory_format: Option<MemoryFormat> = None, MemoryFormat => Some(memory_format);
    }
    /// Options of `cov`.
    CovOptions ['o] {
        /// Sets `correction`, `1` by default.
        correction: i64 = 1, i64 => correction;
        /// Sets `fweights`, which is not set by default.
        fweights: Option<&'o Tensor> = None, &'o Tensor => Some(fweights);
        /// Sets `aweights`, which is not set by default.
        aweights: Option<&'o Tensor> = None, &'o Tensor => Some(aweights);
    }
    /// Options of `fft::fftfreq`, `fft::rfftfreq`.
    DDtypeRequiresGradOptions [] {
        /// Sets `d`, `1.0` by default.
        d: f64 = 1.0, f64 => d;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `diag_embed`, `linalg::diagonal`.
    DiagEmbedOptions [] {
        /// Sets `offset`, `0` by default.
        offset: i64 = 0, i64 => offset;
        /// Sets `dim1`, `-2` by default.
        dim1: i64 = -2, i64 => dim1;
        /// Sets `dim2`, `-1` by default.
        dim2: i64 = -1, i64 => dim2;
    }
    /// Options of `diagflat`.
    DiagflatOptions [] {
        /// Sets `offset`, `0` by default.
        offset: i64 = 0, i64 => offset;
    }
    /// Options of `tril`, `triu`, `diag`.
    DiagonalOptions [] {
        /// Sets `diagonal`, `0` by default.
        diagonal: i64 = 0, i64 => diagonal;
    }
    /// Options of `diff`.
    DiffOptions ['o] {
        /// Sets `n`, `1` by default.
        n: i64 = 1, usize => as_count(n);
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
        /// Sets `prepend`, which is not set by default.
        prepend: Option<&'o Tensor> = None, &'o Tensor => Some(prepend);
        /// Sets `append`, which is not set by default.
        append: Option<&'o Tensor> = None, &'o Tensor => Some(append);
    }
    /// Options of `var`, `std` and 2 more.
    DimCorrectionKeepdimOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `correction`, which is not set by default.
        correction: Option<Scalar> = None, impl Into<Scalar> => Some(correction.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
    }
    /// Options of `sort`, `sort_stable` and 2 more.
    DimDescendingOptions [] {
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
        /// Sets `descending`, `false` by default.
        descending: bool = false, bool => descending;
    }
    /// Options of `nn::softmax`, `nn::log_softmax`, `nn::softmin`.
    DimDtypeOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<i64> = None, i64 => Some(dim);
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `gradient_steps`, `gradient_at`.
    DimEdgeOrderOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `edge_order`, `1` by default.
        edge_order: i64 = 1, usize => as_count(edge_order);
    }
    /// Options of `sum`, `mean` and 4 more.
    DimKeepdimDtypeOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `quantiles`, `quantile` and 2 more.
    DimKeepdimInterpolationOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<i64> = None, i64 => Some(dim);
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `interpolation`, `QuantileInterpolation::Linear` by default.
        interpolation: QuantileInterpolation = QuantileInterpolation::Linear, QuantileInterpolation => interpolation;
    }
    /// Options of `amax`, `amin` and 2 more.
    DimKeepdimOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
    }
    /// Options of `count_nonzero`, `fft::fftshift`, `fft::ifftshift`.
    DimOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
    }
    /// Options of `repeat_interleave_tensor`, `repeat_interleave`.
    DimOutputSizeOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<i64> = None, i64 => Some(dim);
        /// Sets `output_size`, which is not set by default.
        output_size: Option<i64> = None, usize => Some(as_count(output_size));
    }
    /// Options of `roll`, `linalg::tensorsolve`.
    DimsOptions [] {
        /// Sets `dims`, which is not set by default.
        dims: Option<Dims> = None, impl Into<Dims> => Some(dims.into());
    }
    /// Options of `dist`.
    DistOptions [] {
        /// Sets `p`, `2` by default.
        p: Scalar = Scalar::Int(2), impl Into<Scalar> => p.into();
    }
    /// Options of `masked::cumsum`, `masked::cumprod` and 3 more.
    DtypeMaskOptions ['o] {
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `mask`, which is not set by default.
        mask: Option<&'o Tensor> = None, &'o Tensor => Some(mask);
    }
    /// Options of `prod`, `softmax` and 7 more.
    DtypeOptions [] {
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `empty`, `empty_like` and 3 more.
    DtypeRequiresGradMemoryFormatOptions [] {
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
        /// Sets `memory_format`, which is not set by default.
        memory_format: Option<MemoryFormat> = None, MemoryFormat => Some(memory_format);
    }
    /// Options of `empty_strided`, `empty_permuted` and 12 more.
    DtypeRequiresGradOptions [] {
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `trapezoid`, `cumulative_trapezoid`.
    DxDimOptions [] {
        /// Sets `dx`, `1` by default.
        dx: Scalar = Scalar::Int(1), impl Into<Scalar> => dx.into();
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
    }
    /// Options of `expand_copy`.
    ExpandCopyOptions [] {
        /// Sets `implicit`, `false` by default.
        implicit: bool = false, bool => implicit;
    }
    /// Options of `signal::exponential`.
    ExponentialOptions [] {
        /// Sets `center`, which is not set by default.
        center: Option<f64> = None, f64 => Some(center);
        /// Sets `tau`, `1.0` by default.
        tau: f64 = 1.0, f64 => tau;
        /// Sets `sym`, `true` by default.
        sym: bool = true, bool => sym;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `eye`.
    EyeOptions [] {
        /// Sets `m`, which is not set by default.
        m: Option<i64> = None, usize => Some(as_count(m));
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `fill_diagonal`.
    FillDiagonalOptions [] {
        /// Sets `wrap`, `false` by default.
        wrap: bool = false, bool => wrap;
    }
    /// Options of `flatten`.
    FlattenOptions [] {
        /// Sets `start_dim`, `0` by default.
        start_dim: i64 = 0, i64 => start_dim;
        /// Sets `end_dim`, `-1` by default.
        end_dim: i64 = -1, i64 => end_dim;
    }
    /// Options of `gather`.
    GatherOptions [] {
        /// Sets `sparse_grad`, `false` by default.
        sparse_grad: bool = false, bool => sparse_grad;
    }
    /// Options of `signal::gaussian`.
    GaussianOptions [] {
        /// Sets `std`, `1.0` by default.
        std: f64 = 1.0, f64 => std;
        /// Sets `sym`, `true` by default.
        sym: bool = true, bool => sym;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `signal::general_hamming`.
    GeneralHammingOptions [] {
        /// Sets `alpha`, `0.54` by default.
        alpha: f64 = 0.54, f64 => alpha;
        /// Sets `sym`, `true` by default.
        sym: bool = true, bool => sym;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `rand`, `randn` and 4 more.
    GeneratorDtypeRequiresGradOptions ['o] {
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `geometric`, `random_from` and 11 more.
    GeneratorOptions ['o] {
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `gradient`.
    GradientOptions [] {
        /// Sets `spacing`, which is not set by default.
        spacing: Option<Scalar> = None, impl Into<Scalar> => Some(spacing.into());
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `edge_order`, `1` by default.
        edge_order: i64 = 1, usize => as_count(edge_order);
    }
    /// Options of `hamming_window`.
    HammingWindowOptions [] {
        /// Sets `periodic`, `true` by default.
        periodic: bool = true, bool => periodic;
        /// Sets `alpha`, `0.54` by default.
        alpha: f64 = 0.54, f64 => alpha;
        /// Sets `beta`, `0.46` by default.
        beta: f64 = 0.46, f64 => beta;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `hash_tensor`.
    HashTensorOptions [] {
        /// Sets `dim`, `()` by default.
        dim: Option<Dims> = Some(Dims::from(())), impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `mode`, `0` by default.
        mode: i64 = 0, i64 => mode;
    }
    /// Options of `histc`.
    HistcOptions [] {
        /// Sets `bins`, `100` by default.
        bins: i64 = 100, usize => as_count(bins);
        /// Sets `min`, `0` by default.
        min: Scalar = Scalar::Int(0), impl Into<Scalar> => min.into();
        /// Sets `max`, `0` by default.
        max: Scalar = Scalar::Int(0), impl Into<Scalar> => max.into();
    }
    /// Options of `histogram_edges`.
    HistogramEdgesOptions ['o] {
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `density`, `false` by default.
        density: bool = false, bool => density;
    }
    /// Options of `histogram`.
    HistogramOptions ['o] {
        /// Sets `bins`, `100` by default.
        bins: i64 = 100, usize => as_count(bins);
        /// Sets `range`, which is not set by default.
        range: Option<Floats> = None, impl Into<Floats> => Some(range.into());
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `density`, `false` by default.
        density: bool = false, bool => density;
    }
    /// Options of `scatter_reduce`, `index_reduce`.
    IncludeSelfOptions [] {
        /// Sets `include_self`, `true` by default.
        include_self: bool = true, bool => include_self;
    }
    /// Options of `isin`.
    IsinOptions [] {
        /// Sets `assume_unique`, `false` by default.
        assume_unique: bool = false, bool => assume_unique;
        /// Sets `invert`, `false` by default.
        invert: bool = false, bool => invert;
    }
    /// Options of `signal::kaiser`.
    KaiserOptions [] {
        /// Sets `beta`, `12.0` by default.
        beta: f64 = 12.0, f64 => beta;
        /// Sets `sym`, `true` by default.
        sym: bool = true, bool => sym;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `kaiser_window`.
    KaiserWindowOptions [] {
        /// Sets `periodic`, `true` by default.
        periodic: bool = true, bool => periodic;
        /// Sets `beta`, `12.0` by default.
        beta: f64 = 12.0, f64 => beta;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `max_dim`, `min_dim` and 7 more.
    KeepdimOptions [] {
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
    }
    /// Options of `kthvalue`, `mode`.
    KthvalueOptions [] {
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
    }
    /// Options of `exponential`.
    LambdGeneratorOptions ['o] {
        /// Sets `lambd`, `1.0` by default.
        lambd: f64 = 1.0, f64 => lambd;
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `linalg::norm`.
    LinalgNormOptions [] {
        /// Sets `ord`, which is not set by default.
        ord: Option<Scalar> = None, impl Into<Scalar> => Some(ord.into());
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `log_normal`.
    LogNormalOptions ['o] {
        /// Sets `mean`, `1.0` by default.
        mean: f64 = 1.0, f64 => mean;
        /// Sets `std`, `2.0` by default.
        std: f64 = 2.0, f64 => std;
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `masked::logaddexp`.
    LogaddexpOptions ['o] {
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `input_mask`, which is not set by default.
        input_mask: Option<&'o Tensor> = None, &'o Tensor => Some(input_mask);
        /// Sets `other_mask`, which is not set by default.
        other_mask: Option<&'o Tensor> = None, &'o Tensor => Some(other_mask);
    }
    /// Options of `logit`, `special::logit`.
    LogitOptions [] {
        /// Sets `eps`, which is not set by default.
        eps: Option<f64> = None, f64 => Some(eps);
    }
    /// Options of `masked::logsumexp`.
    LogsumexpOptions ['o] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `mask`, which is not set by default.
        mask: Option<&'o Tensor> = None, &'o Tensor => Some(mask);
    }
    /// Options of `masked::argmax`, `masked::argmin`.
    MaskedArgmaxOptions ['o] {
        /// Sets `dim`, which is not set by default.
        dim: Option<i64> = None, i64 => Some(dim);
        /// Sets `keepdim`, `false` by default.
        keepdim: Option<bool> = Some(false), bool => Some(keepdim);
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `mask`, which is not set by default.
        mask: Option<&'o Tensor> = None, &'o Tensor => Some(mask);
    }
    /// Options of `masked::norm`.
    MaskedNormOptions ['o] {
        /// Sets `ord`, `2.0` by default.
        ord: Scalar = Scalar::Float(2.0), impl Into<Scalar> => ord.into();
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: Option<bool> = Some(false), bool => Some(keepdim);
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `mask`, which is not set by default.
        mask: Option<&'o Tensor> = None, &'o Tensor => Some(mask);
    }
    /// Options of `linalg::matrix_norm`.
    MatrixNormOptions [] {
        /// Sets `ord`, `MatrixNorm::Fro` by default.
        ord: MatrixNorm = MatrixNorm::Fro, MatrixNorm => ord;
        /// Sets `dim`, `[-2, -1]` by default.
        dim: Dims = Dims::from([-2, -1]), impl Into<Dims> => dim.into();
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `linalg::matrix_norm_ord`.
    MatrixNormOrdOptions [] {
        /// Sets `dim`, `[-2, -1]` by default.
        dim: Dims = Dims::from([-2, -1]), impl Into<Dims> => dim.into();
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `masked::median`.
    MedianOptions ['o] {
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `mask`, which is not set by default.
        mask: Option<&'o Tensor> = None, &'o Tensor => Some(mask);
    }
    /// Options of `clone`, `bool` and 14 more.
    MemoryFormatOptions [] {
        /// Sets `memory_format`, which is not set by default.
        memory_format: Option<MemoryFormat> = None, MemoryFormat => Some(memory_format);
    }
    /// Options of `meshgrid`.
    MeshgridOptions [] {
        /// Sets `indexing`, which is not set by default.
        indexing: Option<Indexing> = None, Indexing => Some(indexing);
    }
    /// Options of `clamp`, `clamp_`.
    MinMaxOptions ['o] {
        /// Sets `min`, which is not set by default.
        min: Option<Operand<'o>> = None, impl Into<Operand<'o>> => Some(min.into());
        /// Sets `max`, which is not set by default.
        max: Option<Operand<'o>> = None, impl Into<Operand<'o>> => Some(max.into());
    }
    /// Options of `multinomial`.
    MultinomialOptions ['o] {
        /// Sets `replacement`, `false` by default.
        replacement: bool = false, bool => replacement;
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `vander`.
    NIncreasingOptions [] {
        /// Sets `n`, which is not set by default.
        n: Option<i64> = None, usize => Some(as_count(n));
        /// Sets `increasing`, `false` by default.
        increasing: bool = false, bool => increasing;
    }
    /// Options of `nan_to_num`.
    NanToNumOptions [] {
        /// Sets `nan`, which is not set by default.
        nan: Option<f64> = None, f64 => Some(nan);
        /// Sets `posinf`, which is not set by default.
        posinf: Option<f64> = None, f64 => Some(posinf);
        /// Sets `neginf`, which is not set by default.
        neginf: Option<f64> = None, f64 => Some(neginf);
    }
    /// Options of `nonzero_static`.
    NonzeroStaticOptions [] {
        /// Sets `fill_value`, `-1` by default.
        fill_value: i64 = -1, i64 => fill_value;
    }
    /// Options of `norm_except_dim`.
    NormExceptDimOptions [] {
        /// Sets `pow`, `2` by default.
        pow: i64 = 2, i64 => pow;
        /// Sets `dim`, `0` by default.
        dim: i64 = 0, i64 => dim;
    }
    /// Options of `norm`.
    NormOptions [] {
        /// Sets `p`, `MatrixNorm::Fro` by default.
        p: MatrixNorm = MatrixNorm::Fro, MatrixNorm => p;
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `normal_around`.
    NormalAroundOptions ['o] {
        /// Sets `std`, `1.0` by default.
        std: f64 = 1.0, f64 => std;
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `normal`.
    NormalOptions ['o] {
        /// Sets `mean`, `0.0` by default.
        mean: f64 = 0.0, f64 => mean;
        /// Sets `std`, `1.0` by default.
        std: f64 = 1.0, f64 => std;
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `masked::normalize`.
    NormalizeOptions ['o] {
        /// Sets `eps`, `1e-12` by default.
        eps: f64 = 1e-12, f64 => eps;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `mask`, which is not set by default.
        mask: Option<&'o Tensor> = None, &'o Tensor => Some(mask);
    }
    /// Options of `diagonal`, `diagonal_scatter`, `diagonal_copy`.
    OffsetDim1Dim2Options [] {
        /// Sets `offset`, `0` by default.
        offset: i64 = 0, i64 => offset;
        /// Sets `dim1`, `0` by default.
        dim1: i64 = 0, i64 => dim1;
        /// Sets `dim2`, `1` by default.
        dim2: i64 = 1, i64 => dim2;
    }
    /// Options of `tril_indices`, `triu_indices`.
    OffsetDtypeRequiresGradOptions [] {
        /// Sets `offset`, `0` by default.
        offset: i64 = 0, i64 => offset;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `nn::pdist`, `pdist`.
    PdistOptions [] {
        /// Sets `p`, `2.0` by default.
        p: f64 = 2.0, f64 => p;
    }
    /// Options of `hann_window`, `blackman_window`, `bartlett_window`.
    PeriodicDtypeRequiresGradOptions [] {
        /// Sets `periodic`, `true` by default.
        periodic: bool = true, bool => periodic;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `prod_dim`.
    ProdDimOptions [] {
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `rand_like`, `randn_like` and 2 more.
    RandLikeOptions ['o] {
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
        /// Sets `memory_format`, which is not set by default.
        memory_format: Option<MemoryFormat> = None, MemoryFormat => Some(memory_format);
    }
    /// Options of `histogramdd`, `histogramdd_bins`, `histogramdd_edges`.
    RangeWeightDensityOptions ['o] {
        /// Sets `range`, which is not set by default.
        range: Option<Floats> = None, impl Into<Floats> => Some(range.into());
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `density`, `false` by default.
        density: bool = false, bool => density;
    }
    /// Options of `repeated_indices`.
    RepeatedIndicesOptions [] {
        /// Sets `output_size`, which is not set by default.
        output_size: Option<i64> = None, usize => Some(as_count(output_size));
    }
    /// Options of `rot90`.
    Rot90Options [] {
        /// Sets `k`, `1` by default.
        k: i64 = 1, i64 => k;
        /// Sets `dims`, `[0, 1]` by default.
        dims: Dims = Dims::from([0, 1]), impl Into<Dims> => dims.into();
    }
    /// Options of `isclose`, `allclose`.
    RtolAtolEqualNanOptions [] {
        /// Sets `rtol`, `1e-05` by default.
        rtol: f64 = 1e-05, f64 => rtol;
        /// Sets `atol`, `1e-08` by default.
        atol: f64 = 1e-08, f64 => atol;
        /// Sets `equal_nan`, `false` by default.
        equal_nan: bool = false, bool => equal_nan;
    }
    /// Options of `searchsorted`.
    SearchsortedOptions ['o] {
        /// Sets `out_int32`, `false` by default.
        out_int32: bool = false, bool => out_int32;
        /// Sets `right`, `false` by default.
        right: bool = false, bool => right;
        /// Sets `side`, which is not set by default.
        side: Option<Side> = None, Side => Some(side);
        /// Sets `sorter`, which is not set by default.
        sorter: Option<&'o Tensor> = None, &'o Tensor => Some(sorter);
    }
    /// Options of `segment_reduce`.
    SegmentReduceOptions ['o] {
        /// Sets `lengths`, which is not set by default.
        lengths: Option<&'o Tensor> = None, &'o Tensor => Some(lengths);
        /// Sets `indices`, which is not set by default.
        indices: Option<&'o Tensor> = None, &'o Tensor => Some(indices);
        /// Sets `offsets`, which is not set by default.
        offsets: Option<&'o Tensor> = None, &'o Tensor => Some(offsets);
        /// Sets `axis`, `0` by default.
        axis: i64 = 0, i64 => axis;
        /// Sets `unchecked`, `false` by default.
        unchecked: bool = false, bool => unchecked;
        /// Sets `initial`, which is not set by default.
        initial: Option<Scalar> = None, impl Into<Scalar> => Some(initial.into());
    }
    /// Options of `slice_scatter`, `slice_copy`.
    SliceScatterOptions [] {
        /// Sets `dim`, `0` by default.
        dim: i64 = 0, i64 => dim;
        /// Sets `start`, which is not set by default.
        start: Option<i64> = None, i64 => Some(start);
        /// Sets `end`, which is not set by default.
        end: Option<i64> = None, i64 => Some(end);
        /// Sets `step`, `1` by default.
        step: i64 = 1, usize => as_count(step);
    }
    /// Options of `sparse::sum`.
    SparseSumOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
    /// Options of `arange_from`, `range`.
    StepDtypeRequiresGradOptions [] {
        /// Sets `step`, `1` by default.
        step: Scalar = Scalar::Int(1), impl Into<Scalar> => step.into();
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `as_strided`, `as_strided_scatter`, `as_strided_copy`.
    StorageOffsetOptions [] {
        /// Sets `storage_offset`, which is not set by default.
        storage_offset: Option<i64> = None, usize => Some(as_count(storage_offset));
    }
    /// Options of `masked::sum`, `masked::prod` and 3 more.
    SumOptions ['o] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: Option<bool> = Some(false), bool => Some(keepdim);
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `mask`, which is not set by default.
        mask: Option<&'o Tensor> = None, &'o Tensor => Some(mask);
    }
    /// Options of `signal::bartlett`, `signal::blackman` and 5 more.
    SymDtypeRequiresGradOptions [] {
        /// Sets `sym`, `true` by default.
        sym: bool = true, bool => sym;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `requires_grad`, `false` by default.
        requires_grad: bool = false, bool => requires_grad;
    }
    /// Options of `take_along_dim`, `cross`.
    TakeAlongDimOptions [] {
        /// Sets `dim`, which is not set by default.
        dim: Option<i64> = None, i64 => Some(dim);
    }
    /// Options of `tensordot`.
    TensordotOptions [] {
        /// Sets `dims`, `2` by default.
        dims: i64 = 2, usize => as_count(dims);
    }
    /// Options of `to_dense`.
    ToDenseOptions [] {
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `masked_grad`, which is not set by default.
        masked_grad: Option<bool> = None, bool => Some(masked_grad);
    }
    /// Options of `to_sparse_csr`.
    ToSparseCsrOptions [] {
        /// Sets `dense_dim`, which is not set by default.
        dense_dim: Option<i64> = None, usize => Some(as_count(dense_dim));
    }
    /// Options of `to_sparse`.
    ToSparseOptions [] {
        /// Sets `layout`, which is not set by default.
        layout: Option<Layout> = None, Layout => Some(layout);
        /// Sets `blocksize`, which is not set by default.
        blocksize: Option<Shape> = None, impl Into<Shape> => Some(blocksize.into());
        /// Sets `dense_dim`, which is not set by default.
        dense_dim: Option<i64> = None, usize => Some(as_count(dense_dim));
    }
    /// Options of `topk`.
    TopkOptions [] {
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
        /// Sets `largest`, `true` by default.
        largest: bool = true, bool => largest;
        /// Sets `sorted`, `true` by default.
        sorted: bool = true, bool => sorted;
    }
    /// Options of `trapezoid_at`, `cumulative_trapezoid_at` and 3 more.
    TrapezoidAtOptions [] {
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
    }
    /// Options of `unbind`, `split` and 16 more.
    UnbindOptions [] {
        /// Sets `dim`, `0` by default.
        dim: i64 = 0, i64 => dim;
    }
    /// Options of `uniform`.
    UniformOptions ['o] {
        /// Sets `from`, `0.0` by default.
        from: f64 = 0.0, f64 => from;
        /// Sets `to`, `1.0` by default.
        to: f64 = 1.0, f64 => to;
        /// Sets `generator`, which is not set by default.
        generator: Option<&'o Generator> = None, &'o Generator => Some(generator);
    }
    /// Options of `unique_consecutive`.
    UniqueConsecutiveOptions [] {
        /// Sets `return_inverse`, `false` by default.
        return_inverse: bool = false, bool => return_inverse;
        /// Sets `return_counts`, `false` by default.
        return_counts: bool = false, bool => return_counts;
        /// Sets `dim`, which is not set by default.
        dim: Option<i64> = None, i64 => Some(dim);
    }
    /// Options of `unique`.
    UniqueOptions [] {
        /// Sets `sorted`, `true` by default.
        sorted: bool = true, bool => sorted;
        /// Sets `return_inverse`, `false` by default.
        return_inverse: bool = false, bool => return_inverse;
        /// Sets `return_counts`, `false` by default.
        return_counts: bool = false, bool => return_counts;
        /// Sets `dim`, which is not set by default.
        dim: Option<i64> = None, i64 => Some(dim);
    }
    /// Options of `addcmul`, `addcdiv`.
    ValueOptions [] {
        /// Sets `value`, `1` by default.
        value: Scalar = Scalar::Int(1), impl Into<Scalar> => value.into();
    }
    /// Options of `linalg::vander`.
    VanderOptions [] {
        /// Sets `n`, which is not set by default.
        n: Option<i64> = None, usize => Some(as_count(n));
    }
    /// Options of `masked::var`, `masked::std`.
    VarOptions ['o] {
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `unbiased`, which is not set by default.
        unbiased: Option<bool> = None, bool => Some(unbiased);
        /// Sets `correction`, which is not set by default.
        correction: Option<Scalar> = None, impl Into<Scalar> => Some(correction.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: Option<bool> = Some(false), bool => Some(keepdim);
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
        /// Sets `mask`, which is not set by default.
        mask: Option<&'o Tensor> = None, &'o Tensor => Some(mask);
    }
    /// Options of `linalg::vector_norm`.
    VectorNormOptions [] {
        /// Sets `ord`, `2` by default.
        ord: Scalar = Scalar::Int(2), impl Into<Scalar> => ord.into();
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
        /// Sets `dtype`, which is not set by default.
        dtype: Option<DType> = None, DType => Some(dtype);
    }
}

#[cfg(feature = "conv")]
options! {
    /// Options of `nn::affine_grid`.
    AffineGridOptions [] {
        /// Sets `align_corners`, which is not set by default.
        align_corners: Option<bool> = None, bool => Some(align_corners);
    }
    /// Options of `nn::avg_pool1d`, `avg_pool1d`.
    AvgPool1dOptions [] {
        /// Sets `stride`, which is not set by default.
        stride: Option<Shape> = None, impl Into<Shape> => Some(stride.into());
        /// Sets `padding`, `0` by default.
        padding: Shape = Shape::from(0), impl Into<Shape> => padding.into();
        /// Sets `ceil_mode`, `false` by default.
        ceil_mode: bool = false, bool => ceil_mode;
        /// Sets `count_include_pad`, `true` by default.
        count_include_pad: bool = true, bool => count_include_pad;
    }
    /// Options of `nn::avg_pool2d`, `nn::avg_pool3d`.
    AvgPool2dOptions [] {
        /// Sets `stride`, which is not set by default.
        stride: Option<Shape> = None, impl Into<Shape> => Some(stride.into());
        /// Sets `padding`, `0` by default.
        padding: Shape = Shape::from(0), impl Into<Shape> => padding.into();
        /// Sets `ceil_mode`, `false` by default.
        ceil_mode: bool = false, bool => ceil_mode;
        /// Sets `count_include_pad`, `true` by default.
        count_include_pad: bool = true, bool => count_include_pad;
        /// Sets `divisor_override`, which is not set by default.
        divisor_override: Option<i64> = None, i64 => Some(divisor_override);
    }
    /// Options of `constant_pad_nd`.
    ConstantPadNdOptions [] {
        /// Sets `value`, `0` by default.
        value: Scalar = Scalar::Int(0), impl Into<Scalar> => value.into();
    }
    /// Options of `nn::conv1d`, `nn::conv2d` and 4 more.
    Conv1dOptions ['o] {
        /// Sets `bias`, which is not set by default.
        bias: Option<&'o Tensor> = None, &'o Tensor => Some(bias);
        /// Sets `stride`, `1` by default.
        stride: Shape = Shape::from(1), impl Into<Shape> => stride.into();
        /// Sets `padding`, `0` by default.
        padding: Padding = Padding::from(0), impl Into<Padding> => padding.into();
        /// Sets `dilation`, `1` by default.
        dilation: Shape = Shape::from(1), impl Into<Shape> => dilation.into();
        /// Sets `groups`, `1` by default.
        groups: i64 = 1, usize => as_count(groups);
    }
    /// Options of `conv_tbc`.
    ConvTbcOptions [] {
        /// Sets `pad`, `0` by default.
        pad: i64 = 0, usize => as_count(pad);
    }
    /// Options of `nn::conv_transpose1d`, `nn::conv_transpose2d` and 4 more.
    ConvTranspose1dOptions ['o] {
        /// Sets `bias`, which is not set by default.
        bias: Option<&'o Tensor> = None, &'o Tensor => Some(bias);
        /// Sets `stride`, `1` by default.
        stride: Shape = Shape::from(1), impl Into<Shape> => stride.into();
        /// Sets `padding`, `0` by default.
        padding: Shape = Shape::from(0), impl Into<Shape> => padding.into();
        /// Sets `output_padding`, `0` by default.
        output_padding: Shape = Shape::from(0), impl Into<Shape> => output_padding.into();
        /// Sets `groups`, `1` by default.
        groups: i64 = 1, usize => as_count(groups);
        /// Sets `dilation`, `1` by default.
        dilation: Shape = Shape::from(1), impl Into<Shape> => dilation.into();
    }
    /// Options of `nn::unfold`, `nn::fold`.
    DilationPaddingStrideOptions [] {
        /// Sets `dilation`, `1` by default.
        dilation: Shape = Shape::from(1), impl Into<Shape> => dilation.into();
        /// Sets `padding`, `0` by default.
        padding: Shape = Shape::from(0), impl Into<Shape> => padding.into();
        /// Sets `stride`, `1` by default.
        stride: Shape = Shape::from(1), impl Into<Shape> => stride.into();
    }
    /// Options of `nn::grid_sample`.
    GridSampleOptions [] {
        /// Sets `mode`, `GridSampleMode::Bilinear` by default.
        mode: GridSampleMode = GridSampleMode::Bilinear, GridSampleMode => mode;
        /// Sets `padding_mode`, `GridPadding::Zeros` by default.
        padding_mode: GridPadding = GridPadding::Zeros, GridPadding => padding_mode;
        /// Sets `align_corners`, which is not set by default.
        align_corners: Option<bool> = None, bool => Some(align_corners);
    }
    /// Options of `nn::interpolate`.
    InterpolateOptions [] {
        /// Sets `size`, which is not set by default.
        size: Option<Shape> = None, impl Into<Shape> => Some(size.into());
        /// Sets `scale_factor`, which is not set by default.
        scale_factor: Option<Floats> = None, impl Into<Floats> => Some(scale_factor.into());
        /// Sets `mode`, `Interpolation::Nearest` by default.
        mode: Interpolation = Interpolation::Nearest, Interpolation => mode;
        /// Sets `align_corners`, which is not set by default.
        align_corners: Option<bool> = None, bool => Some(align_corners);
        /// Sets `recompute_scale_factor`, which is not set by default.
        recompute_scale_factor: Option<bool> = None, bool => Some(recompute_scale_factor);
        /// Sets `antialias`, `false` by default.
        antialias: bool = false, bool => antialias;
    }
    /// Options of `nn::max_pool1d`, `nn::max_pool2d` and 8 more.
    MaxPool1dOptions [] {
        /// Sets `stride`, which is not set by default.
        stride: Option<Shape> = None, impl Into<Shape> => Some(stride.into());
        /// Sets `padding`, `0` by default.
        padding: Shape = Shape::from(0), impl Into<Shape> => padding.into();
        /// Sets `dilation`, `1` by default.
        dilation: Shape = Shape::from(1), impl Into<Shape> => dilation.into();
        /// Sets `ceil_mode`, `false` by default.
        ceil_mode: bool = false, bool => ceil_mode;
    }
    /// Options of `nn::fractional_max_pool2d`, `nn::fractional_max_pool3d` and 2 more.
    OutputSizeOutputRatioRandomSamplesOptions ['o] {
        /// Sets `output_size`, which is not set by default.
        output_size: Option<Shape> = None, impl Into<Shape> => Some(output_size.into());
        /// Sets `output_ratio`, which is not set by default.
        output_ratio: Option<Floats> = None, impl Into<Floats> => Some(output_ratio.into());
        /// Sets `random_samples`, which is not set by default.
        random_samples: Option<&'o Tensor> = None, &'o Tensor => Some(random_samples);
    }
    /// Options of `nn::pad`.
    PadOptions [] {
        /// Sets `mode`, `PaddingMode::Constant` by default.
        mode: PaddingMode = PaddingMode::Constant, PaddingMode => mode;
        /// Sets `value`, which is not set by default.
        value: Option<f64> = None, f64 => Some(value);
    }
    /// Options of `nn::upsample_nearest`, `nn::upsample_bilinear`.
    SizeScaleFactorOptions [] {
        /// Sets `size`, which is not set by default.
        size: Option<Shape> = None, impl Into<Shape> => Some(size.into());
        /// Sets `scale_factor`, which is not set by default.
        scale_factor: Option<Floats> = None, impl Into<Floats> => Some(scale_factor.into());
    }
    /// Options of `nn::lp_pool1d`, `nn::lp_pool2d`, `nn::lp_pool3d`.
    StrideCeilModeOptions [] {
        /// Sets `stride`, which is not set by default.
        stride: Option<Shape> = None, impl Into<Shape> => Some(stride.into());
        /// Sets `ceil_mode`, `false` by default.
        ceil_mode: bool = false, bool => ceil_mode;
    }
    /// Options of `nn::max_unpool1d`, `nn::max_unpool2d`, `nn::max_unpool3d`.
    StridePaddingOutputSizeOptions [] {
        /// Sets `stride`, which is not set by default.
        stride: Option<Shape> = None, impl Into<Shape> => Some(stride.into());
        /// Sets `padding`, `0` by default.
        padding: Shape = Shape::from(0), impl Into<Shape> => padding.into();
        /// Sets `output_size`, which is not set by default.
        output_size: Option<Shape> = None, impl Into<Shape> => Some(output_size.into());
    }
    /// Options of `nn::upsample`.
    UpsampleOptions [] {
        /// Sets `size`, which is not set by default.
        size: Option<Shape> = None, impl Into<Shape> => Some(size.into());
        /// Sets `scale_factor`, which is not set by default.
        scale_factor: Option<Floats> = None, impl Into<Floats> => Some(scale_factor.into());
        /// Sets `mode`, `Interpolation::Nearest` by default.
        mode: Interpolation = Interpolation::Nearest, Interpolation => mode;
        /// Sets `align_corners`, which is not set by default.
        align_corners: Option<bool> = None, bool => Some(align_corners);
    }
}

#[cfg(feature = "fft")]
options! {
    /// Options of `fft::fftn`, `fft::ifftn` and 4 more.
    FftnOptions [] {
        /// Sets `s`, which is not set by default.
        s: Option<Shape> = None, impl Into<Shape> => Some(s.into());
        /// Sets `dim`, which is not set by default.
        dim: Option<Dims> = None, impl Into<Dims> => Some(dim.into());
        /// Sets `norm`, which is not set by default.
        norm: Option<FftNorm> = None, FftNorm => Some(norm);
    }
    /// Options of `istft`.
    IstftOptions ['o] {
        /// Sets `hop_length`, which is not set by default.
        hop_length: Option<i64> = None, usize => Some(as_count(hop_length));
        /// Sets `win_length`, which is not set by default.
        win_length: Option<i64> = None, usize => Some(as_count(win_length));
        /// Sets `window`, which is not set by default.
        window: Option<&'o Tensor> = None, &'o Tensor => Some(window);
        /// Sets `center`, `true` by default.
        center: bool = true, bool => center;
        /// Sets `normalized`, `false` by default.
        normalized: bool = false, bool => normalized;
        /// Sets `onesided`, which is not set by default.
        onesided: Option<bool> = None, bool => Some(onesided);
        /// Sets `length`, which is not set by default.
        length: Option<i64> = None, usize => Some(as_count(length));
        /// Sets `return_complex`, `false` by default.
        return_complex: bool = false, bool => return_complex;
    }
    /// Options of `fft::fft`, `fft::ifft` and 4 more.
    NDimNormOptions [] {
        /// Sets `n`, which is not set by default.
        n: Option<i64> = None, usize => Some(as_count(n));
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
        /// Sets `norm`, which is not set by default.
        norm: Option<FftNorm> = None, FftNorm => Some(norm);
    }
    /// Options of `fft::fft2`, `fft::ifft2` and 4 more.
    SDimNormOptions [] {
        /// Sets `s`, which is not set by default.
        s: Option<Shape> = None, impl Into<Shape> => Some(s.into());
        /// Sets `dim`, `[-2, -1]` by default.
        dim: Dims = Dims::from([-2, -1]), impl Into<Dims> => dim.into();
        /// Sets `norm`, which is not set by default.
        norm: Option<FftNorm> = None, FftNorm => Some(norm);
    }
    /// Options of `stft`.
    StftOptions ['o] {
        /// Sets `hop_length`, which is not set by default.
        hop_length: Option<i64> = None, usize => Some(as_count(hop_length));
        /// Sets `win_length`, which is not set by default.
        win_length: Option<i64> = None, usize => Some(as_count(win_length));
        /// Sets `window`, which is not set by default.
        window: Option<&'o Tensor> = None, &'o Tensor => Some(window);
        /// Sets `center`, `true` by default.
        center: bool = true, bool => center;
        /// Sets `pad_mode`, `PaddingMode::Reflect` by default.
        pad_mode: PaddingMode = PaddingMode::Reflect, PaddingMode => pad_mode;
        /// Sets `normalized`, `false` by default.
        normalized: bool = false, bool => normalized;
        /// Sets `onesided`, which is not set by default.
        onesided: Option<bool> = None, bool => Some(onesided);
        /// Sets `return_complex`, which is not set by default.
        return_complex: Option<bool> = None, bool => Some(return_complex);
        /// Sets `align_to_window`, which is not set by default.
        align_to_window: Option<bool> = None, bool => Some(align_to_window);
    }
}

#[cfg(feature = "linalg")]
options! {
    /// Options of `linalg::pinv`, `linalg::matrix_rank`.
    AtolRtolHermitianOptions [] {
        /// Sets `atol`, which is not set by default.
        atol: Option<f64> = None, f64 => Some(atol);
        /// Sets `rtol`, which is not set by default.
        rtol: Option<f64> = None, f64 => Some(rtol);
        /// Sets `hermitian`, `false` by default.
        hermitian: bool = false, bool => hermitian;
    }
    /// Options of `linalg::cholesky_ex`.
    CholeskyExOptions [] {
        /// Sets `upper`, `false` by default.
        upper: bool = false, bool => upper;
        /// Sets `check_errors`, `false` by default.
        check_errors: bool = false, bool => check_errors;
    }
    /// Options of `linalg::cond`.
    CondOptions [] {
        /// Sets `p`, which is not set by default.
        p: Option<Scalar> = None, impl Into<Scalar> => Some(p.into());
    }
    /// Options of `linalg::ldl_factor`, `linalg::ldl_solve` and 4 more.
    HermitianOptions [] {
        /// Sets `hermitian`, `false` by default.
        hermitian: bool = false, bool => hermitian;
    }
    /// Options of `linalg::inv_ex`.
    InvExOptions [] {
        /// Sets `check_errors`, `false` by default.
        check_errors: bool = false, bool => check_errors;
    }
    /// Options of `linalg::ldl_factor_ex`.
    LdlFactorExOptions [] {
        /// Sets `hermitian`, `false` by default.
        hermitian: bool = false, bool => hermitian;
        /// Sets `check_errors`, `false` by default.
        check_errors: bool = false, bool => check_errors;
    }
    /// Options of `lobpcg`.
    LobpcgOptions ['o] {
        /// Sets `k`, which is not set by default.
        k: Option<i64> = None, usize => Some(as_count(k));
        /// Sets `b`, which is not set by default.
        b: Option<&'o Tensor> = None, &'o Tensor => Some(b);
        /// Sets `x`, which is not set by default.
        x: Option<&'o Tensor> = None, &'o Tensor => Some(x);
        /// Sets `n`, which is not set by default.
        n: Option<i64> = None, usize => Some(as_count(n));
        /// Sets `ik`, which is not set by default.
        ik: Option<&'o Tensor> = None, &'o Tensor => Some(ik);
        /// Sets `niter`, which is not set by default.
        niter: Option<i64> = None, i64 => Some(niter);
        /// Sets `tol`, which is not set by default.
        tol: Option<f64> = None, f64 => Some(tol);
        /// Sets `largest`, which is not set by default.
        largest: Option<bool> = None, bool => Some(largest);
        /// Sets `method`, which is not set by default.
        method: Option<LobpcgMethod> = None, LobpcgMethod => Some(method);
    }
    /// Options of `linalg::lstsq`.
    LstsqOptions [] {
        /// Sets `rcond`, which is not set by default.
        rcond: Option<f64> = None, f64 => Some(rcond);
        /// Sets `driver`, which is not set by default.
        driver: Option<LstsqDriver> = None, LstsqDriver => Some(driver);
    }
    /// Options of `linalg::lu_factor_ex`.
    LuFactorExOptions [] {
        /// Sets `pivot`, `true` by default.
        pivot: bool = true, bool => pivot;
        /// Sets `check_errors`, `false` by default.
        check_errors: bool = false, bool => check_errors;
    }
    /// Options of `lu`.
    LuOptions [] {
        /// Sets `pivot`, `true` by default.
        pivot: bool = true, bool => pivot;
        /// Sets `get_infos`, `false` by default.
        get_infos: bool = false, bool => get_infos;
    }
    /// Options of `linalg::lu_solve`.
    LuSolveOptions [] {
        /// Sets `left`, `true` by default.
        left: bool = true, bool => left;
        /// Sets `adjoint`, `false` by default.
        adjoint: bool = false, bool => adjoint;
    }
    /// Options of `lu_unpack`.
    LuUnpackOptions [] {
        /// Sets `unpack_data`, `true` by default.
        unpack_data: bool = true, bool => unpack_data;
        /// Sets `unpack_pivots`, `true` by default.
        unpack_pivots: bool = true, bool => unpack_pivots;
    }
    /// Options of `ormqr`.
    OrmqrOptions [] {
        /// Sets `left`, `true` by default.
        left: bool = true, bool => left;
        /// Sets `transpose`, `false` by default.
        transpose: bool = false, bool => transpose;
    }
    /// Options of `pca_lowrank`.
    PcaLowrankOptions [] {
        /// Sets `q`, which is not set by default.
        q: Option<i64> = None, usize => Some(as_count(q));
        /// Sets `center`, `true` by default.
        center: bool = true, bool => center;
        /// Sets `niter`, `2` by default.
        niter: i64 = 2, usize => as_count(niter);
    }
    /// Options of `linalg::pinv_tensors`, `linalg::matrix_rank_tensors`.
    PinvTensorsOptions ['o] {
        /// Sets `atol`, which is not set by default.
        atol: Option<&'o Tensor> = None, &'o Tensor => Some(atol);
        /// Sets `rtol`, which is not set by default.
        rtol: Option<&'o Tensor> = None, &'o Tensor => Some(rtol);
        /// Sets `hermitian`, `false` by default.
        hermitian: bool = false, bool => hermitian;
    }
    /// Options of `pinverse`.
    PinverseOptions [] {
        /// Sets `rcond`, `1e-15` by default.
        rcond: f64 = 1e-15, f64 => rcond;
    }
    /// Options of `linalg::lu`, `linalg::lu_factor`.
    PivotOptions [] {
        /// Sets `pivot`, `true` by default.
        pivot: bool = true, bool => pivot;
    }
    /// Options of `linalg::qr`.
    QrOptions [] {
        /// Sets `mode`, `QrMode::Reduced` by default.
        mode: QrMode = QrMode::Reduced, QrMode => mode;
    }
    /// Options of `linalg::solve_ex`.
    SolveExOptions [] {
        /// Sets `left`, `true` by default.
        left: bool = true, bool => left;
        /// Sets `check_errors`, `false` by default.
        check_errors: bool = false, bool => check_errors;
    }
    /// Options of `linalg::solve`.
    SolveOptions [] {
        /// Sets `left`, `true` by default.
        left: bool = true, bool => left;
    }
    /// Options of `linalg::solve_triangular`.
    SolveTriangularOptions [] {
        /// Sets `left`, `true` by default.
        left: bool = true, bool => left;
        /// Sets `unitriangular`, `false` by default.
        unitriangular: bool = false, bool => unitriangular;
    }
    /// Options of `svd`.
    SomeComputeUvOptions [] {
        /// Sets `some`, `true` by default.
        some: bool = true, bool => some;
        /// Sets `compute_uv`, `true` by default.
        compute_uv: bool = true, bool => compute_uv;
    }
    /// Options of `qr`.
    SomeOptions [] {
        /// Sets `some`, `true` by default.
        some: bool = true, bool => some;
    }
    /// Options of `svd_lowrank`.
    SvdLowrankOptions ['o] {
        /// Sets `q`, `6` by default.
        q: Option<i64> = Some(6), usize => Some(as_count(q));
        /// Sets `niter`, `2` by default.
        niter: Option<i64> = Some(2), usize => Some(as_count(niter));
        /// Sets `m`, which is not set by default.
        m: Option<&'o Tensor> = None, &'o Tensor => Some(m);
    }
    /// Options of `linalg::svd`.
    SvdOptions [] {
        /// Sets `full_matrices`, `true` by default.
        full_matrices: bool = true, bool => full_matrices;
        /// Sets `driver`, which is not set by default.
        driver: Option<SvdDriver> = None, SvdDriver => Some(driver);
    }
    /// Options of `linalg::svdvals`.
    SvdvalsOptions [] {
        /// Sets `driver`, which is not set by default.
        driver: Option<SvdDriver> = None, SvdDriver => Some(driver);
    }
    /// Options of `linalg::tensorinv`.
    TensorinvOptions [] {
        /// Sets `ind`, `2` by default.
        ind: i64 = 2, usize => as_count(ind);
    }
    /// Options of `triangular_solve`.
    TriangularSolveOptions [] {
        /// Sets `upper`, `true` by default.
        upper: bool = true, bool => upper;
        /// Sets `transpose`, `false` by default.
        transpose: bool = false, bool => transpose;
        /// Sets `unitriangular`, `false` by default.
        unitriangular: bool = false, bool => unitriangular;
    }
    /// Options of `linalg::eigh`, `linalg::eigvalsh`.
    UploOptions [] {
        /// Sets `uplo`, `Triangle::Lower` by default.
        uplo: Triangle = Triangle::Lower, Triangle => uplo;
    }
    /// Options of `linalg::cholesky`, `cholesky` and 2 more.
    UpperOptions [] {
        /// Sets `upper`, `false` by default.
        upper: bool = false, bool => upper;
    }
}

#[cfg(feature = "nn")]
options! {
    /// Options of `nn::alpha_dropout`, `nn::feature_alpha_dropout`.
    AlphaDropoutOptions [] {
        /// Sets `p`, `0.5` by default.
        p: f64 = 0.5, f64 => p;
        /// Sets `training`, `false` by default.
        training: bool = false, bool => training;
    }
    /// Options of `nn::batch_norm`.
    BatchNormOptions ['o] {
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `bias`, which is not set by default.
        bias: Option<&'o Tensor> = None, &'o Tensor => Some(bias);
        /// Sets `training`, `false` by default.
        training: bool = false, bool => training;
        /// Sets `momentum`, `0.1` by default.
        momentum: f64 = 0.1, f64 => momentum;
        /// Sets `eps`, `1e-5` by default.
        eps: f64 = 1e-5, f64 => eps;
    }
    /// Options of `nn::binary_cross_entropy_with_logits`.
    BinaryCrossEntropyWithLogitsOptions ['o] {
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
        /// Sets `pos_weight`, which is not set by default.
        pos_weight: Option<&'o Tensor> = None, &'o Tensor => Some(pos_weight);
    }
    /// Options of `nn::ctc_loss`, `nn::ctc_loss_tensors`.
    BlankReductionZeroInfinityOptions [] {
        /// Sets `blank`, `0` by default.
        blank: i64 = 0, i64 => blank;
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
        /// Sets `zero_infinity`, `false` by default.
        zero_infinity: bool = false, bool => zero_infinity;
    }
    /// Options of `nn::cosine_similarity`.
    CosineSimilarityOptions [] {
        /// Sets `dim`, `1` by default.
        dim: i64 = 1, i64 => dim;
        /// Sets `eps`, `1e-8` by default.
        eps: f64 = 1e-8, f64 => eps;
    }
    /// Options of `nn::cross_entropy`.
    CrossEntropyOptions ['o] {
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `ignore_index`, `-100` by default.
        ignore_index: i64 = -100, i64 => ignore_index;
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
        /// Sets `label_smoothing`, `0.0` by default.
        label_smoothing: f64 = 0.0, f64 => label_smoothing;
    }
    /// Options of `nn::elu`, `nn::elu_` and 2 more.
    EluOptions [] {
        /// Sets `alpha`, `1.0` by default.
        alpha: Scalar = Scalar::Float(1.0), impl Into<Scalar> => alpha.into();
    }
    /// Options of `nn::embedding_bag`.
    EmbeddingBagOptions ['o] {
        /// Sets `offsets`, which is not set by default.
        offsets: Option<&'o Tensor> = None, &'o Tensor => Some(offsets);
        /// Sets `max_norm`, which is not set by default.
        max_norm: Option<f64> = None, f64 => Some(max_norm);
        /// Sets `norm_type`, `2.0` by default.
        norm_type: f64 = 2.0, f64 => norm_type;
        /// Sets `scale_grad_by_freq`, `false` by default.
        scale_grad_by_freq: bool = false, bool => scale_grad_by_freq;
        /// Sets `mode`, `BagMode::Mean` by default.
        mode: BagMode = BagMode::Mean, BagMode => mode;
        /// Sets `sparse`, `false` by default.
        sparse: bool = false, bool => sparse;
        /// Sets `per_sample_weights`, which is not set by default.
        per_sample_weights: Option<&'o Tensor> = None, &'o Tensor => Some(per_sample_weights);
        /// Sets `include_last_offset`, `false` by default.
        include_last_offset: bool = false, bool => include_last_offset;
        /// Sets `padding_idx`, which is not set by default.
        padding_idx: Option<i64> = None, i64 => Some(padding_idx);
    }
    /// Options of `nn::embedding`.
    EmbeddingOptions [] {
        /// Sets `padding_idx`, which is not set by default.
        padding_idx: Option<i64> = None, i64 => Some(padding_idx);
        /// Sets `max_norm`, which is not set by default.
        max_norm: Option<f64> = None, f64 => Some(max_norm);
        /// Sets `norm_type`, `2.0` by default.
        norm_type: f64 = 2.0, f64 => norm_type;
        /// Sets `scale_grad_by_freq`, `false` by default.
        scale_grad_by_freq: bool = false, bool => scale_grad_by_freq;
        /// Sets `sparse`, `false` by default.
        sparse: bool = false, bool => sparse;
    }
    /// Options of `nn::gaussian_nll_loss`.
    GaussianNllLossOptions [] {
        /// Sets `full`, `false` by default.
        full: bool = false, bool => full;
        /// Sets `eps`, `1e-6` by default.
        eps: f64 = 1e-6, f64 => eps;
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
    /// Options of `nn::gelu`.
    GeluOptions [] {
        /// Sets `approximate`, `Approximate::None` by default.
        approximate: Approximate = Approximate::None, Approximate => approximate;
    }
    /// Options of `nn::gumbel_softmax`.
    GumbelSoftmaxOptions [] {
        /// Sets `tau`, `1` by default.
        tau: Scalar = Scalar::Int(1), impl Into<Scalar> => tau.into();
        /// Sets `hard`, `false` by default.
        hard: bool = false, bool => hard;
        /// Sets `eps`, `1e-10` by default.
        eps: f64 = 1e-10, f64 => eps;
        /// Sets `dim`, `-1` by default.
        dim: i64 = -1, i64 => dim;
    }
    /// Options of `nn::hinge_embedding_loss`.
    HingeEmbeddingLossOptions [] {
        /// Sets `margin`, `1.0` by default.
        margin: f64 = 1.0, f64 => margin;
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
    /// Options of `nn::huber_loss`.
    HuberLossOptions ['o] {
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
        /// Sets `delta`, `1.0` by default.
        delta: f64 = 1.0, f64 => delta;
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
    }
    /// Options of `nn::instance_norm`.
    InstanceNormOptions ['o] {
        /// Sets `running_mean`, which is not set by default.
        running_mean: Option<&'o Tensor> = None, &'o Tensor => Some(running_mean);
        /// Sets `running_var`, which is not set by default.
        running_var: Option<&'o Tensor> = None, &'o Tensor => Some(running_var);
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `bias`, which is not set by default.
        bias: Option<&'o Tensor> = None, &'o Tensor => Some(bias);
        /// Sets `use_input_stats`, `true` by default.
        use_input_stats: bool = true, bool => use_input_stats;
        /// Sets `momentum`, `0.1` by default.
        momentum: f64 = 0.1, f64 => momentum;
        /// Sets `eps`, `1e-5` by default.
        eps: f64 = 1e-5, f64 => eps;
    }
    /// Options of `nn::kl_div`.
    KlDivOptions [] {
        /// Sets `reduction`, `KlReduction::Mean` by default.
        reduction: KlReduction = KlReduction::Mean, KlReduction => reduction;
        /// Sets `log_target`, `false` by default.
        log_target: bool = false, bool => log_target;
    }
    /// Options of `nn::softshrink`, `nn::hardshrink`.
    LambdOptions [] {
        /// Sets `lambd`, `0.5` by default.
        lambd: Scalar = Scalar::Float(0.5), impl Into<Scalar> => lambd.into();
    }
    /// Options of `nn::local_response_norm`.
    LocalResponseNormOptions [] {
        /// Sets `alpha`, `1e-4` by default.
        alpha: f64 = 1e-4, f64 => alpha;
        /// Sets `beta`, `0.75` by default.
        beta: f64 = 0.75, f64 => beta;
        /// Sets `k`, `1.0` by default.
        k: f64 = 1.0, f64 => k;
    }
    /// Options of `nn::rrelu`, `nn::rrelu_`.
    LowerUpperTrainingOptions [] {
        /// Sets `lower`, `0.125` by default.
        lower: Scalar = Scalar::Float(0.125), impl Into<Scalar> => lower.into();
        /// Sets `upper`, `0.3333333333333333` by default.
        upper: Scalar = Scalar::Float(0.3333333333333333), impl Into<Scalar> => upper.into();
        /// Sets `training`, `false` by default.
        training: bool = false, bool => training;
    }
    /// Options of `nn::margin_ranking_loss`, `nn::cosine_embedding_loss`.
    MarginReductionOptions [] {
        /// Sets `margin`, `0` by default.
        margin: Scalar = Scalar::Int(0), impl Into<Scalar> => margin.into();
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
    /// Options of `nn::hardtanh`, `nn::hardtanh_`.
    MinValMaxValOptions [] {
        /// Sets `min_val`, `-1.0` by default.
        min_val: Scalar = Scalar::Float(-1.0), impl Into<Scalar> => min_val.into();
        /// Sets `max_val`, `1.0` by default.
        max_val: Scalar = Scalar::Float(1.0), impl Into<Scalar> => max_val.into();
    }
    /// Options of `nn::multi_margin_loss`.
    MultiMarginLossOptions ['o] {
        /// Sets `p`, `1` by default.
        p: Scalar = Scalar::Int(1), impl Into<Scalar> => p.into();
        /// Sets `margin`, `1.0` by default.
        margin: Scalar = Scalar::Float(1.0), impl Into<Scalar> => margin.into();
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
    /// Options of `nn::leaky_relu`, `nn::leaky_relu_`.
    NegativeSlopeOptions [] {
        /// Sets `negative_slope`, `0.01` by default.
        negative_slope: Scalar = Scalar::Float(0.01), impl Into<Scalar> => negative_slope.into();
    }
    /// Options of `nn::nll_loss`.
    NllLossOptions ['o] {
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `ignore_index`, `-100` by default.
        ignore_index: i64 = -100, i64 => ignore_index;
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
    /// Options of `nn::normalize`.
    NnNormalizeOptions [] {
        /// Sets `p`, `2.0` by default.
        p: f64 = 2.0, f64 => p;
        /// Sets `dim`, `1` by default.
        dim: i64 = 1, i64 => dim;
        /// Sets `eps`, `1e-12` by default.
        eps: f64 = 1e-12, f64 => eps;
    }
    /// Options of `nn::one_hot`.
    OneHotOptions [] {
        /// Sets `num_classes`, which is not set by default.
        num_classes: i64 = -1, usize => as_count(num_classes);
    }
    /// Options of `nn::dropout`, `nn::dropout1d` and 2 more.
    PTrainingOptions [] {
        /// Sets `p`, `0.5` by default.
        p: f64 = 0.5, f64 => p;
        /// Sets `training`, `true` by default.
        training: bool = true, bool => training;
    }
    /// Options of `nn::pairwise_distance`.
    PairwiseDistanceOptions [] {
        /// Sets `p`, `2.0` by default.
        p: f64 = 2.0, f64 => p;
        /// Sets `eps`, `1e-6` by default.
        eps: f64 = 1e-6, f64 => eps;
        /// Sets `keepdim`, `false` by default.
        keepdim: bool = false, bool => keepdim;
    }
    /// Options of `nn::poisson_nll_loss`.
    PoissonNllLossOptions [] {
        /// Sets `log_input`, `true` by default.
        log_input: bool = true, bool => log_input;
        /// Sets `full`, `false` by default.
        full: bool = false, bool => full;
        /// Sets `eps`, `1e-8` by default.
        eps: f64 = 1e-8, f64 => eps;
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
    /// Options of `nn::soft_margin_loss`, `nn::multilabel_margin_loss`.
    ReductionOptions [] {
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
    /// Options of `nn::mse_loss`, `nn::l1_loss`.
    ReductionWeightOptions ['o] {
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
    }
    /// Options of `nn::rms_norm`.
    RmsNormOptions ['o] {
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `eps`, which is not set by default.
        eps: Option<f64> = None, f64 => Some(eps);
    }
    /// Options of `nn::scaled_dot_product_attention`.
    ScaledDotProductAttentionOptions ['o] {
        /// Sets `attn_mask`, which is not set by default.
        attn_mask: Option<&'o Tensor> = None, &'o Tensor => Some(attn_mask);
        /// Sets `dropout_p`, `0.0` by default.
        dropout_p: f64 = 0.0, f64 => dropout_p;
        /// Sets `is_causal`, `false` by default.
        is_causal: bool = false, bool => is_causal;
        /// Sets `scale`, which is not set by default.
        scale: Option<f64> = None, f64 => Some(scale);
        /// Sets `enable_gqa`, `false` by default.
        enable_gqa: bool = false, bool => enable_gqa;
    }
    /// Options of `nn::smooth_l1_loss`.
    SmoothL1LossOptions [] {
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
        /// Sets `beta`, `1.0` by default.
        beta: f64 = 1.0, f64 => beta;
    }
    /// Options of `nn::softplus`.
    SoftplusOptions [] {
        /// Sets `beta`, `1` by default.
        beta: Scalar = Scalar::Int(1), impl Into<Scalar> => beta.into();
        /// Sets `threshold`, `20` by default.
        threshold: Scalar = Scalar::Int(20), impl Into<Scalar> => threshold.into();
    }
    /// Options of `nn::triplet_margin_loss`.
    TripletMarginLossOptions [] {
        /// Sets `margin`, `1.0` by default.
        margin: f64 = 1.0, f64 => margin;
        /// Sets `p`, `2` by default.
        p: Scalar = Scalar::Int(2), impl Into<Scalar> => p.into();
        /// Sets `eps`, `1e-6` by default.
        eps: f64 = 1e-6, f64 => eps;
        /// Sets `swap`, `false` by default.
        swap: bool = false, bool => swap;
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
    /// Options of `nn::layer_norm`, `nn::group_norm`.
    WeightBiasEpsOptions ['o] {
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `bias`, which is not set by default.
        bias: Option<&'o Tensor> = None, &'o Tensor => Some(bias);
        /// Sets `eps`, `1e-5` by default.
        eps: f64 = 1e-5, f64 => eps;
    }
    /// Options of `nn::multilabel_soft_margin_loss`, `nn::binary_cross_entropy`.
    WeightReductionOptions ['o] {
        /// Sets `weight`, which is not set by default.
        weight: Option<&'o Tensor> = None, &'o Tensor => Some(weight);
        /// Sets `reduction`, `Reduction::Mean` by default.
        reduction: Reduction = Reduction::Mean, Reduction => reduction;
    }
}

#[cfg(feature = "rnn")]
options! {
    /// Options of `rnn_tanh_cell`, `rnn_relu_cell` and 2 more.
    BIhBHhOptions ['o] {
        /// Sets `b_ih`, which is not set by default.
        b_ih: Option<&'o Tensor> = None, &'o Tensor => Some(b_ih);
        /// Sets `b_hh`, which is not set by default.
        b_hh: Option<&'o Tensor> = None, &'o Tensor => Some(b_hh);
    }
}

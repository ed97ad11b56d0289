//! What the roster does not say of the Rust form of an op: names of overloads, of results and of choices, and what has
//! no form in Rust.

/// Entries without a form of their own in Rust: the engine's function, and why.
pub const EXCLUDED: &[(&str, &str)] = &[
    ("memory::to_device", "there is one device"),
    ("moments::var_unbiased", "`correction`, an option of `var_with`, says the same"),
    ("moments::var_dim", "`dim` and `correction`, options of `var_with`, say the same"),
    ("moments::std_unbiased", "`correction`, an option of `std_with`, says the same"),
    ("moments::std_dim", "`dim` and `correction`, options of `std_with`, say the same"),
    ("moments::var_mean_unbiased", "`correction`, an option of `var_mean_with`, says the same"),
    ("moments::var_mean_dim", "`dim` and `correction`, options of `var_mean_with`, say the same"),
    ("moments::std_mean_unbiased", "`correction`, an option of `std_mean_with`, says the same"),
    ("moments::std_mean_dim", "`dim` and `correction`, options of `std_mean_with`, say the same"),
    ("entries::conv1d_named", "`padding`, an option of `conv1d_with`, takes `Padding::Same`"),
    ("entries::conv2d_named", "`padding`, an option of `conv2d_with`, takes `Padding::Same`"),
    ("entries::conv3d_named", "`padding`, an option of `conv3d_with`, takes `Padding::Same`"),
];

/// Methods of torch that are none here: a clone in Rust is another handle on the same tensor, and `detach` is written
/// by hand.
pub const NO_METHOD: &[&str] = &["clone", "detach"];

/// Overloads that are the `_with` form of another one, which has the same name and fewer parameters.
pub const MERGED: &[&str] = &["sum::sum_over", "sum::mean_over", "logic::all_dims", "logic::any_dims"];

/// The name in Rust of the engine's function, where it is not that of the entry. Of overloads, the one that is called
/// most has the name.
pub const NAMES: &[(&str, &str)] = &[
    ("range::arange_from", "arange_from"),
    ("range::linspace_tensors", "linspace_tensors"),
    ("spaced::logspace_tensors", "logspace_tensors"),
    ("factory::randint_from", "randint_from"),
    ("factory::randint_like_from", "randint_like_from"),
    ("random::random_from", "random_from"),
    ("random::random_to", "random_to"),
    ("random::bernoulli_with", "bernoulli_p"),
    ("random::bernoulli_each", "bernoulli_each"),
    ("choice::normal_around", "normal_around"),
    ("choice::normal_within", "normal_within"),
    ("choice::normal_each", "normal_each"),
    ("memory::to_other", "to_like"),
    ("division::div_rounded", "div_rounded"),
    ("rounding::round_decimals", "round_decimals"),
    ("select::where_", "where_self"),
    ("select::where_method", "where_self"),
    ("mask::where_nonzero", "where_nonzero"),
    ("mask::nonzero_as", "nonzero_tuple"),
    ("prod::prod_dim", "prod_dim"),
    ("extreme::max_dim", "max_dim"),
    ("extreme::max_of", "max_of"),
    ("extreme::min_dim", "min_dim"),
    ("extreme::min_of", "min_of"),
    ("norm::norm", "norm_p"),
    ("norm::matrix_norm_number", "matrix_norm_ord"),
    ("norm::linalg_norm_named", "norm_named"),
    ("difference::trapezoid", "trapezoid_at"),
    ("difference::cumulative_trapezoid", "cumulative_trapezoid_at"),
    ("gradient::gradient_steps", "gradient_steps"),
    ("gradient::gradient_places", "gradient_at"),
    ("order::sort_stable", "sort_stable"),
    ("order::argsort_stable", "argsort_stable"),
    ("median::median_dim", "median_dim"),
    ("median::nanmedian_dim", "nanmedian_dim"),
    ("quantile::quantile", "quantiles"),
    ("quantile::nanquantile", "nanquantiles"),
    ("shape::view_dtype", "view_dtype"),
    ("axes::squeeze_dim", "squeeze_dim"),
    ("axes::squeeze_dims", "squeeze_dims"),
    ("slice::narrow_tensor", "narrow_tensor"),
    ("split::split_sections", "split_sections"),
    ("split::split_sections_method", "split_sections"),
    ("repeat::repeat_interleave", "repeat_interleave_tensor"),
    ("repeat::repeated_indices", "repeated_indices"),
    ("stack::all_atleast_1d", "all_atleast_1d"),
    ("stack::all_atleast_2d", "all_atleast_2d"),
    ("stack::all_atleast_3d", "all_atleast_3d"),
    ("split_variants::tensor_split_as", "tensor_split_by"),
    ("split_variants::tensor_split", "tensor_split_at"),
    ("split_variants::hsplit", "hsplit_at"),
    ("split_variants::vsplit", "vsplit_at"),
    ("split_variants::dsplit", "dsplit_at"),
    ("sparse::to_sparse_dim", "to_sparse_dim"),
    ("csr::mm_reduce", "mm_reduce"),
    ("copies::squeeze_dim_copy", "squeeze_dim_copy"),
    ("copies::squeeze_dims_copy", "squeeze_dims_copy"),
    ("copies::view_dtype_copy", "view_dtype_copy"),
    ("scatter::scatter_value", "scatter_value"),
    ("scatter::scatter_reducing", "scatter_reducing"),
    ("scatter::scatter_value_reducing", "scatter_value_reducing"),
    ("slices::index_fill_tensor", "index_fill_tensor"),
    ("einsum::tensordot", "tensordot_dims"),
    ("native::_native_batch_norm_legit_own", "native_batch_norm_legit_own"),
    ("ctc::ctc_loss_of_tensors", "ctc_loss_tensors"),
    ("ternary::lerp", "lerp_tensor"),
    ("histogram::histogram_edges", "histogram_edges"),
    ("histogram_nd::histogramdd_bins", "histogramdd_bins"),
    ("histogram_nd::histogramdd_edges", "histogramdd_edges"),
    ("promotion_queries::result_type_of_number", "result_type_of_number"),
    ("promotion_queries::result_type_of_numbers", "result_type_of_numbers"),
    ("rnn::rnn_tanh_packed", "rnn_tanh_packed"),
    ("rnn::rnn_relu_packed", "rnn_relu_packed"),
    ("rnn::lstm_packed", "lstm_packed"),
    ("rnn::gru_packed", "gru_packed"),
    ("pinv::pinv_tensors", "pinv_tensors"),
    ("pinv::pinv_rcond", "pinv_rcond"),
    ("pinv::pinv_rcond_tensor", "pinv_rcond_tensor"),
    ("pinv::matrix_rank_tensors", "matrix_rank_tensors"),
    ("pinv::matrix_rank_tol", "matrix_rank_tol"),
    ("pinv::matrix_rank_tol_tensor", "matrix_rank_tol_tensor"),
    ("spectrum::nuclear_norm", "nuclear_norm_dim"),
    ("spectrum::cond_named", "cond_named"),
];

/// Parameters that have a default in Python and none in Rust.
pub const REQUIRED: &[(&str, &str)] = &[("memory::to_dtype", "dtype")];

/// Parameters that have no form in Rust, and what is passed for them: of one function, or of all (`*`).
pub const FIXED: &[(&str, &str, &str)] = &[
    ("*", "size_average", "None"),
    ("*", "inplace", "false"),
    ("*", "non_blocking", "false"),
    ("*", "device", "None"),
    ("*", "_stacklevel", "3"),
    ("*", "return_indices", "false"),
    ("mask::nonzero_as", "as_tuple", "true"),
    ("order::sort_stable", "stable", "Some(true)"),
    ("order::argsort_stable", "stable", "true"),
];

/// Texts that are choices: the name of the parameter, its default or `*`, and the type, which is in `ops`. The first
/// that fits counts.
pub const CHOICES: [(&str, &str, &str); 20] = [
    ("reduction", "*", "Reduction"),
    ("approximate", "*", "Approximate"),
    ("UPLO", "*", "Triangle"),
    ("compute_mode", "*", "CdistMode"),
    ("indexing", "*", "Indexing"),
    ("interpolation", "*", "QuantileInterpolation"),
    ("method", "*", "LobpcgMethod"),
    ("mode", "'bilinear'", "GridSampleMode"),
    ("mode", "'constant'", "PaddingMode"),
    ("mode", "'mean'", "BagMode"),
    ("mode", "'nearest'", "Interpolation"),
    ("mode", "'reduced'", "QrMode"),
    ("norm", "*", "FftNorm"),
    ("ord", "*", "MatrixNorm"),
    ("p", "*", "MatrixNorm"),
    ("pad_mode", "*", "PaddingMode"),
    ("padding_mode", "*", "GridPadding"),
    ("reduce", "*", "Reduce"),
    ("rounding_mode", "*", "RoundingMode"),
    ("side", "*", "Side"),
];

/// Choices of one function, before those of [`CHOICES`].
pub const CHOICES_OF: [(&str, &str, &str); 6] = [
    ("margin::kl_div", "reduction", "KlReduction"),
    ("scatter::scatter_reducing", "reduce", "ScatterReduction"),
    ("scatter::scatter_value_reducing", "reduce", "ScatterReduction"),
    ("lstsq::lstsq", "driver", "LstsqDriver"),
    ("svd::linalg_svd", "driver", "SvdDriver"),
    ("svd::svdvals", "driver", "SvdDriver"),
];

/// Texts of documentation that mean the same as the text of a variant: the text, its type, the variant.
pub const SYNONYMS: &[(&str, &str, &str)] = &[("max", "Reduce", "Amax"), ("min", "Reduce", "Amin")];

/// Integers that are dimensions, not sizes.
pub const DIMS: &[&str] = &["dim", "dims", "dims_a", "dims_b", "source", "destination"];

/// Integers that count, by the names of their parameters, and what they count: they are never negative, and `usize` in
/// Rust. Every integer is here, in [`SIGNED`] or in [`SIGNED_OF`].
pub const COUNTS: &[(&str, &str)] = &[
    ("bins", "bins of a histogram"),
    ("c", "channels"),
    ("chunks", "parts"),
    ("col", "columns"),
    ("dense_dim", "dimensions"),
    ("dims", "dimensions that are contracted"),
    ("downscale_factor", "pixels that become one"),
    ("edge_order", "the order of a difference, 1 or 2"),
    ("group", "groups of channels"),
    ("groups", "groups of channels"),
    ("hop_length", "elements between windows"),
    ("hxw", "pixels"),
    ("ind", "dimensions"),
    ("k", "elements that are chosen, or the rank of one"),
    ("kernel_size", "elements of a window"),
    ("length", "elements"),
    ("m", "columns, or elements of a window"),
    ("minlength", "bins"),
    ("n", "rows, points, samples, or the order of a derivative"),
    ("n_fft", "points of a transform"),
    ("niter", "iterations"),
    ("num_classes", "classes"),
    ("num_groups", "groups of channels"),
    ("num_layers", "layers"),
    ("num_samples", "samples"),
    ("output_size", "elements of the result"),
    ("p", "dimensions of a multivariate distribution"),
    ("pad", "elements that are put at each side"),
    ("q", "columns of an approximation"),
    ("r", "elements of a combination"),
    ("repeats", "copies of an element"),
    ("row", "rows"),
    ("sections", "parts"),
    ("size", "elements"),
    ("sparse_dim", "dimensions"),
    ("split_size", "elements of a part"),
    ("split_size_or_sections", "elements of a part"),
    ("step", "elements from one to the next: views do not run backwards"),
    ("steps", "points"),
    ("storage_offset", "elements from the start of the memory"),
    ("upscale_factor", "pixels that one becomes"),
    ("win_length", "elements of a window"),
    ("window_length", "elements of a window"),
];

/// Integers that may be negative, or that count nothing, by the names of their parameters, and why.
pub const SIGNED: &[(&str, &str)] = &[
    ("axis", DIM),
    ("axis0", DIM),
    ("axis1", DIM),
    ("blank", CLASS),
    ("correction", "more degrees of freedom than elements there are"),
    ("decimals", "digits before the point are negative"),
    ("diagonal", DIAGONAL),
    ("dim", DIM),
    ("dim0", DIM),
    ("dim1", DIM),
    ("dim2", DIM),
    ("dimension", DIM),
    ("divisor_override", "any divisor but zero"),
    ("end", PLACE),
    ("end_dim", DIM),
    ("fill_value", ELEMENT),
    ("from", ELEMENT),
    ("high", ELEMENT),
    ("ignore_index", CLASS),
    ("index", PLACE),
    ("interpolation_mode", CODE),
    ("low", ELEMENT),
    ("mode", CODE),
    ("offset", DIAGONAL),
    ("padding_idx", PLACE),
    ("padding_mode", CODE),
    ("pow", "the exponent of a norm"),
    ("start", PLACE),
    ("start_dim", DIM),
    ("to", ELEMENT),
];

const DIM: &str = "a dimension, counted from the end if it is negative";
const PLACE: &str = "a place along a dimension, counted from the end if it is negative";
const DIAGONAL: &str = "a diagonal, below the main one if it is negative";
const ELEMENT: &str = "compared with elements, or one of them";
const CLASS: &str = "a class, of which targets have the dtype int64; -100 is none of them";
const CODE: &str = "a number that stands for a choice";

/// Integers of one function that may be negative, although their names are among [`COUNTS`].
pub const SIGNED_OF: &[(&str, &str, &str)] = &[
    ("linalg::matrix_power", "n", "negative powers are those of the inverse"),
    ("linalg::matrix_power_of", "n", "negative powers are those of the inverse"),
    ("lowrank::lobpcg", "niter", "-1 is no limit"),
    ("roll::rot90", "k", "negative turns run the other way"),
];

/// Results by the names of their fields.
pub const RESULTS: [(&[&str], &str); 20] = [
    (&["values", "indices"], "ValuesIndices"),
    (&["min", "max"], "MinMax"),
    (&["mantissa", "exponent"], "MantissaExponent"),
    (&["hist", "bin_edges"], "Histogram"),
    (&["L", "info"], "CholeskyInfo"),
    (&["solution", "cloned_coefficient"], "TriangularSolution"),
    (&["LD", "pivots"], "Ldl"),
    (&["LD", "pivots", "info"], "LdlInfo"),
    (&["P", "L", "U"], "Plu"),
    (&["LU", "pivots"], "Lu"),
    (&["LU", "pivots", "info"], "LuInfo"),
    (&["result", "info"], "SolutionInfo"),
    (&["inverse", "info"], "InverseInfo"),
    (&["sign", "logabsdet"], "SignLogabsdet"),
    (&["Q", "R"], "Qr"),
    (&["a", "tau"], "Geqrf"),
    (&["eigenvalues", "eigenvectors"], "Eig"),
    (&["U", "S", "Vh"], "Svd"),
    (&["U", "S", "V"], "Usv"),
    (&["solution", "residuals", "rank", "singular_values"], "Lstsq"),
];

/// Features that ops need, of both crates: where their functions are in `retrograd_engine::ops`. The first that fits
/// counts.
pub const FEATURES: &[(&str, &str)] = &[
    ("fft::", "fft"),
    ("linalg::", "linalg"),
    ("nn::conv::", "conv"),
    ("nn::image::", "conv"),
    ("nn::pool::", "conv"),
    ("nn::", "nn"),
    ("pointwise::bessel::", "special"),
    ("pointwise::incomplete_gamma::", "special"),
    ("pointwise::polynomials::", "special"),
    ("random::variates::", "random"),
    ("rnn::", "rnn"),
];

/// Functions of the face that stand for several of the engine.
pub const PATHS: &[(&str, &str)] = &[
    ("entries::conv1d", "crate::ops::merged::conv1d"),
    ("entries::conv2d", "crate::ops::merged::conv2d"),
    ("entries::conv3d", "crate::ops::merged::conv3d"),
];

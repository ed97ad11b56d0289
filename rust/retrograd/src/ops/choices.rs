//! What options choose among by name.

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $choice:ident = $text:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$of])* $choice,)*
        }

        impl $name {
            /// The name in torch.
            #[inline]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$choice => $text,)*
                }
            }
        }
    )*};
}

choices! {
    /// What becomes of a loss per element.
    Reduction {
        /// Each element keeps its loss.
        None = "none",
        /// Their mean.
        Mean = "mean",
        /// Their sum.
        Sum = "sum",
    }
    /// What becomes of a Kullback-Leibler divergence per element.
    KlReduction {
        /// Each element keeps its own.
        None = "none",
        /// Their mean.
        Mean = "mean",
        /// Their sum.
        Sum = "sum",
        /// Their sum, divided by the number of samples: the divergence by its definition.
        BatchMean = "batchmean",
    }
    /// How elements that meet in one place are combined.
    Reduce {
        /// Their sum.
        Sum = "sum",
        /// Their product.
        Prod = "prod",
        /// Their mean.
        Mean = "mean",
        /// The largest.
        Amax = "amax",
        /// The smallest.
        Amin = "amin",
    }
    /// How `scatter_reducing` combines what it writes with what is there.
    ScatterReduction {
        /// Their sum.
        Add = "add",
        /// Their product.
        Multiply = "multiply",
    }
    /// How a quotient is rounded.
    RoundingMode {
        /// Towards zero.
        Trunc = "trunc",
        /// Towards minus infinity.
        Floor = "floor",
    }
    /// Where a quantile lies that falls between two elements.
    QuantileInterpolation {
        /// In proportion.
        Linear = "linear",
        /// At the lower one.
        Lower = "lower",
        /// At the higher one.
        Higher = "higher",
        /// In the middle.
        Midpoint = "midpoint",
        /// At the nearer one.
        Nearest = "nearest",
    }
    /// The direction of a Fourier transform that divides.
    FftNorm {
        /// The inverse divides by `n`.
        Backward = "backward",
        /// Both divide by the square root of `n`.
        Ortho = "ortho",
        /// The forward transform divides by `n`.
        Forward = "forward",
    }
    /// The triangle of a matrix that is read.
    Triangle {
        /// The lower one.
        Lower = "L",
        /// The upper one.
        Upper = "U",
    }
    /// How the error function in GELU is computed.
    Approximate {
        /// As it is.
        None = "none",
        /// By a hyperbolic tangent.
        Tanh = "tanh",
    }
    /// How `cdist` computes Euclidean distances.
    CdistMode {
        /// By a matrix product, where there are more than 25 rows.
        MmIfNecessary = "use_mm_for_euclid_dist_if_necessary",
        /// By a matrix product.
        Mm = "use_mm_for_euclid_dist",
        /// By differences.
        NoMm = "donot_use_mm_for_euclid_dist",
    }
    /// The routine of LAPACK that torch would call for singular values; it changes nothing here.
    SvdDriver {
        /// By QR iteration.
        Gesvd = "gesvd",
        /// By Jacobi's method.
        Gesvdj = "gesvdj",
        /// By an approximate method.
        Gesvda = "gesvda",
    }
    /// How least squares are solved.
    LstsqDriver {
        /// By QR: of full rank.
        Gels = "gels",
        /// By QR with pivots.
        Gelsy = "gelsy",
        /// By singular values, divide and conquer.
        Gelsd = "gelsd",
        /// By singular values.
        Gelss = "gelss",
    }
    /// The iteration of `lobpcg`.
    LobpcgMethod {
        /// With orthogonal selection of its basis.
        Ortho = "ortho",
        /// As first published.
        Basic = "basic",
    }
    /// The order of the axes that `meshgrid` makes.
    Indexing {
        /// Rows, then columns: as matrices are indexed.
        Ij = "ij",
        /// Columns, then rows: as points of a plane.
        Xy = "xy",
    }
    /// How a grid or an image is sampled between pixels.
    GridSampleMode {
        /// Linear along every axis.
        Bilinear = "bilinear",
        /// The nearest pixel.
        Nearest = "nearest",
        /// Cubic along every axis.
        Bicubic = "bicubic",
    }
    /// What `grid_sample` reads outside of the image.
    GridPadding {
        /// Zeros.
        Zeros = "zeros",
        /// The pixel at the border.
        Border = "border",
        /// The image, mirrored.
        Reflection = "reflection",
    }
    /// What is put around a tensor.
    PaddingMode {
        /// One number.
        Constant = "constant",
        /// The elements, mirrored without the outermost.
        Reflect = "reflect",
        /// The outermost element.
        Replicate = "replicate",
        /// The elements from the other end.
        Circular = "circular",
    }
    /// How an image is resized.
    Interpolation {
        /// The nearest pixel, with the indices of early versions of torch.
        Nearest = "nearest",
        /// The nearest pixel, by centers.
        NearestExact = "nearest-exact",
        /// Linear, of one axis.
        Linear = "linear",
        /// Linear along both axes.
        Bilinear = "bilinear",
        /// Cubic along both axes.
        Bicubic = "bicubic",
        /// Linear along three axes.
        Trilinear = "trilinear",
        /// The mean of the area under a pixel.
        Area = "area",
        /// By the kernel of Lanczos.
        Lanczos = "lanczos",
    }
    /// What `embedding_bag` makes of a bag.
    BagMode {
        /// The sum of its rows.
        Sum = "sum",
        /// Their mean.
        Mean = "mean",
        /// Their maximum.
        Max = "max",
    }
    /// How much of a QR decomposition is returned.
    QrMode {
        /// As many columns as the smaller size.
        Reduced = "reduced",
        /// A square `Q`.
        Complete = "complete",
        /// `R` alone, and an empty `Q`.
        R = "r",
    }
    /// A norm of matrices that has a name.
    MatrixNorm {
        /// The root of the sum of the squares.
        Fro = "fro",
        /// The sum of the singular values.
        Nuc = "nuc",
    }
    /// The side of equal elements on which `searchsorted` inserts.
    Side {
        /// Before them.
        Left = "left",
        /// Behind them.
        Right = "right",
    }
}

//! Coefficients and limits, for each element type.

/// What the functions need to know of an element type. Coefficients come with the error of the fit, relative to the
/// function that is computed from them.
pub trait Tables: Sized + 'static {
    /// Above this `exp` is infinite, with a margin.
    const EXP_MAX: Self;
    /// Below this `exp` is 0, with a margin.
    const EXP_MIN: Self;
    /// The same limits for `exp2`.
    const EXP2_MAX: Self;
    /// The same limits for `exp2`.
    const EXP2_MIN: Self;
    /// Below this `expm1` is -1, with a margin.
    const EXPM1_MIN: Self;
    /// From here on `tanh` is 1.
    const TANH_ONE: Self;
    /// From here on `erf` is 1.
    const ERF_ONE: Self;
    /// Below this `cos` is 1.
    const COS_ONE: Self;
    /// `sin` and `cos` reduce arguments below this themselves.
    const TURNS_MAX: Self;
    /// The square of a number between the first two is normal, unless the number is small beside one that is in there;
    /// so are those of all other numbers after a product with the third, or with the fourth.
    const SQUARED: [Self; 4];

    /// ln 2 as a sum; the product of the first part with any exponent is exact.
    const LN_2: [Self; 2];
    /// The decimal logarithm of 2, likewise.
    const LOG10_2: [Self; 2];
    /// The logarithm of e to base 2 as a sum of rounded numbers.
    const LOG2_E: [Self; 2];
    /// The logarithm of e to base 10, likewise.
    const LOG10_E: [Self; 2];
    /// Pi as a sum, none of it negative, so that no zero changes its sign when their products with 0 are subtracted.
    const PI: [Self; 3];

    /// Half of pi as a sum of rounded numbers.
    const HALF_PI: [Self; 2];

    /// `(exp(r) - 1 - r) / r^2` for `|r| <= ln 2 / 2`.
    const EXP: &'static [Self];
    /// `(log((1 + s) / (1 - s)) / s - 2) / z` in `z = s^2`, for `(1 + s) / (1 - s)` from sqrt(1/2) to sqrt(2).
    const LOG: &'static [Self];
    /// `(log(1 + f) - f) / f^2` for `1 + f` from sqrt(1/2) to sqrt(2); none where a quotient takes less.
    const LOG_BEYOND: &'static [Self];
    /// `(sin(r) / r - 1) / z` in `z = r^2`, for `|r| <= pi / 2`.
    const SIN: &'static [Self];
    /// `(tanh(x) / x - 1) / z` in `z = x^2`, for `|x| <= 0.55`.
    const TANH: &'static [Self];
    /// For each quarter of an octave, in the order of [`Vector::lookup`](crate::simd::Vector::lookup), the coefficients
    /// of a polynomial that is `tanh`, in the distance from the numbers in the first row. The hyperbolic tangent of
    /// most of these is nearly one of float32, so that the largest term is all but exact. None where `expm1` does it.
    const TANH_QUARTERS: &'static [[Self; 32]];
    /// `(sinh(x) / x - 1) / z` in `z = x^2`, for `|x| <= 1`.
    const SINH: &'static [Self];
    /// `(tan(r) / r - 1) / z` in `z = r^2`, for `|r| <= pi / 4`, and a little beyond.
    const TAN: &'static [Self];
    /// `(asin(r) / r - 1) / z` in `z = r^2`, for `|r| <= 1/2`.
    const ASIN: &'static [Self];
    /// `(atan(r) / r - 1) / z` in `z = r^2`, for `|r| <= 1/2`.
    const ATAN: &'static [Self];
    /// `erf(x) / x - 1` in `z = x^2`, for `|x| <= 1`.
    const ERF: &'static [Self];
    /// `(2^x - 1) / x` for `|x|` up to a half.
    const EXP2: &'static [Self];
    /// The binary logarithm of the normal distribution's tail beyond `x`, from 0 to 5.5, and falling from there on;
    /// none where `erf` does as well.
    const LOG2_TAIL: &'static [Self];
    /// `log(1 - erf(x))` for `x` from 1 to `ERF_ONE`; the error is that of `erf`.
    const LOG_ERFC: &'static [Self];

    /// For arguments that are too large to reduce here.
    fn sin_of_large(x: Self) -> Self;
    /// For arguments that are too large to reduce here.
    fn cos_of_large(x: Self) -> Self;
    /// For arguments that are too large to reduce here.
    fn tan_of_large(x: Self) -> Self;
}

#[allow(clippy::approx_constant)] // parts of sums, and of types narrower than the constants of `std`
impl Tables for f32 {
    const EXP_MAX: Self = 89.0;
    const EXP_MIN: Self = -104.0;
    const EXP2_MAX: Self = 128.0;
    const EXP2_MIN: Self = -151.0;
    const EXPM1_MIN: Self = -20.0;
    const TANH_ONE: Self = 10.0;
    const ERF_ONE: Self = 4.0;
    const COS_ONE: Self = 2.4e-4;
    const TURNS_MAX: Self = 131072.0;
    const SQUARED: [Self; 4] = [
        f32::from_bits((127 - 50) << 23),
        f32::from_bits((127 + 50) << 23),
        f32::from_bits((127 + 100) << 23),
        f32::from_bits((127 - 100) << 23),
    ];

    const LN_2: [Self; 2] = [0.69314575, 1.4286068e-06];
    const LOG10_2: [Self; 2] = [0.3010254, 4.605039e-06];
    const LOG2_E: [Self; 2] = [1.442695, 1.925963e-08];
    const LOG10_E: [Self; 2] = [0.4342945, -1.010305e-08];
    const PI: [Self; 3] = [3.1415925, 1.5099579e-07, 1.0780605e-14];
    const HALF_PI: [Self; 2] = [1.5707964, -4.371139e-08];

    /// 2^-28.3.
    const EXP: &'static [Self] = &[0.49999994, 0.1666652, 0.041668426, 0.008368869, 0.001381262];
    /// 2^-29.2.
    const LOG: &'static [Self] = &[0.66666776, 0.3997745, 0.2987442];
    /// 2^-27.4.
    const LOG_BEYOND: &'static [Self] =
        &[-0.5, 0.3333333, -0.2500082, 0.20001227, -0.16623357, 0.1420176, -0.1316019, 0.12761563, -0.0763446];
    /// 2^-27.3.
    const SIN: &'static [Self] = &[-0.1666666, 0.008333065, -0.00019809474, 2.605481e-06];
    /// 2^-29.8.
    const TANH: &'static [Self] = &[-0.33333316, 0.13332586, -0.05385231, 0.021071678, -0.0062742378];
    /// 2^-26.1.
    const TANH_QUARTERS: &'static [[Self; 32]] = &[
        [
            2.2499652, 2.749997, 3.250013, 3.7500048, 4.5000525, 5.500363, 6.498972, 7.513047, 8.66434, 10.0, 10.0,
            10.0, 0.0, 0.08593746, 0.10156268, 0.11718713, 0.1406259, 0.17187478, 0.20312424, 0.2343757, 0.28124958,
            0.34375155, 0.40624812, 0.46875146, 0.5625036, 0.687499, 0.8124952, 0.9374976, 1.1250092, 1.3749977,
            1.6249952, 1.875007,
        ],
        [
            0.9780246, 0.9918597, 0.9969977, 0.99889445, 0.99975324, 0.9999666, 0.99999547, 0.9999994, 0.99999994, 1.0,
            1.0, 1.0, 0.0, 0.08572653, 0.10121491, 0.11665362, 0.13970618, 0.17020209, 0.20037599, 0.23017637,
            0.2740612, 0.3308225, 0.38528237, 0.43718997, 0.5098326, 0.5963729, 0.6709644, 0.7340704, 0.80930424,
            0.8798262, 0.92534554, 0.9540459,
        ],
        [
            0.043467876,
            0.016214391,
            0.0059955604,
            0.0022098722,
            0.00049348,
            6.6758126e-5,
            9.060129e-6,
            1.1921675e-6,
            1.1862098e-7,
            0.0,
            0.0,
            0.0,
            1.0,
            0.992651,
            0.9897556,
            0.98639196,
            0.98048216,
            0.97103125,
            0.9598495,
            0.94701886,
            0.92489046,
            0.89055645,
            0.8515575,
            0.80886495,
            0.7400707,
            0.6443394,
            0.5498068,
            0.46114063,
            0.34502664,
            0.22590588,
            0.14373563,
            0.08979644,
        ],
        [
            -0.042511456,
            -0.016081488,
            -0.005977144,
            -0.0022072524,
            -0.00049274287,
            -6.6672066e-5,
            -9.048715e-6,
            -1.1906324e-6,
            -1.1941269e-7,
            0.0,
            0.0,
            0.0,
            0.0,
            -0.08509573,
            -0.10017942,
            -0.11506432,
            -0.1369811,
            -0.16527064,
            -0.19233096,
            -0.2179825,
            -0.25347605,
            -0.29461607,
            -0.32809034,
            -0.35362843,
            -0.3773122,
            -0.38426608,
            -0.36890098,
            -0.33851,
            -0.27923352,
            -0.1987591,
            -0.13300559,
            -0.085669994,
        ],
        [
            0.0270895,
            0.010546223,
            0.0039608255,
            0.0014682496,
            0.00032830768,
            4.4439887e-5,
            6.0325337e-6,
            7.9265806e-7,
            8.3709e-8,
            0.0,
            0.0,
            0.0,
            -0.33333248,
            -0.32357952,
            -0.31979275,
            -0.31535867,
            -0.30770233,
            -0.2955424,
            -0.28141218,
            -0.26550347,
            -0.23882698,
            -0.19938664,
            -0.15744582,
            -0.11502072,
            -0.05432509,
            0.0143866055,
            0.064250134,
            0.09477623,
            0.11097631,
            0.09957215,
            0.075164706,
            0.051801216,
        ],
        [
            -0.012385946,
            -0.005147354,
            -0.001977874,
            -0.00073942373,
            -0.00017192854,
            -2.3298913e-5,
            -3.1628256e-6,
            -4.16095e-7,
            -4.1236227e-8,
            0.0,
            0.0,
            0.0,
            0.0,
            0.043254767,
            0.0887378,
            0.04465167,
            0.09549094,
            0.10168813,
            0.12119106,
            0.13838233,
            0.14931574,
            0.16406232,
            0.17022319,
            0.1689149,
            0.15332991,
            0.119343966,
            0.07994007,
            0.04341261,
            0.0036695928,
            -0.02111188,
            -0.025126433,
            -0.020849723,
        ],
        [
            0.0039767385,
            0.0019162776,
            0.000771246,
            0.00029298352,
            6.85907e-5,
            9.3189055e-6,
            1.2618501e-6,
            1.7079597e-7,
            9.870371e-9,
            0.0,
            0.0,
            0.0,
            0.13287593,
            -0.023635259,
            0.34693643,
            -0.13880093,
            0.16021918,
            0.081134215,
            0.09439895,
            0.09787138,
            0.057282362,
            0.032051187,
            0.006580778,
            -0.015611352,
            -0.04333478,
            -0.06170776,
            -0.06265532,
            -0.05303325,
            -0.03211199,
            -0.00955135,
            0.001380729,
            0.004597007,
        ],
    ];
    /// 2^-31.6.
    const SINH: &'static [Self] = &[0.16666667, 0.0083333105, 0.00019842896, 2.7822132e-06];
    /// 2^-29.5.
    const TAN: &'static [Self] =
        &[0.3333335, 0.13332674, 0.054059178, 0.02128451, 0.010832493, 9.118721e-05, 0.004376452];
    /// 2^-27.6.
    const ASIN: &'static [Self] = &[0.16666752, 0.074953094, 0.045469154, 0.02418474, 0.042158406];
    /// 2^-27.5.
    const ATAN: &'static [Self] = &[-0.33333233, 0.19994168, -0.14174213, 0.10155829, -0.051251695];
    /// 2^-29.6.
    const ERF: &'static [Self] =
        &[0.12837917, -0.37612626, 0.112835854, -0.026853813, 0.0051883277, -0.00080101955, 7.853867e-05];
    /// 2^-29.8.
    const LOG_ERFC: &'static [Self] =
        &[-0.00034134067, -1.1270899, -0.6381437, -0.10310767, 0.021838479, -0.0029477559, 0.00018638856];

    /// 2^-27.6.
    const EXP2: &'static [Self] = &[0.6931472, 0.2402265, 0.05550357, 0.009618083, 0.0013390863, 0.00015453163];
    /// 2^-25 up to 1, then growing as the logarithm does.
    const LOG2_TAIL: &'static [Self] = &[
        -1.0,
        -1.1511042,
        -0.4592203,
        -0.05244439,
        0.006952644,
        -4.4518414e-06,
        -0.00027819547,
        7.636222e-05,
        -1.1026303e-05,
        8.727312e-07,
        -2.974829e-08,
    ];

    fn sin_of_large(x: Self) -> Self {
        x.sin()
    }
    fn cos_of_large(x: Self) -> Self {
        x.cos()
    }
    fn tan_of_large(x: Self) -> Self {
        x.tan()
    }
}

#[allow(clippy::approx_constant)] // parts of sums
impl Tables for f64 {
    const EXP_MAX: Self = 710.0;
    const EXP_MIN: Self = -746.0;
    const EXP2_MAX: Self = 1024.0;
    const EXP2_MIN: Self = -1076.0;
    const EXPM1_MIN: Self = -40.0;
    const TANH_ONE: Self = 20.0;
    const ERF_ONE: Self = 6.0;
    const COS_ONE: Self = 1e-8;
    const TURNS_MAX: Self = 2097152.0;
    const SQUARED: [Self; 4] = [
        f64::from_bits((1023 - 500) << 52),
        f64::from_bits((1023 + 500) << 52),
        f64::from_bits((1023 + 700) << 52),
        f64::from_bits((1023 - 700) << 52),
    ];

    const LN_2: [Self; 2] = [0.6931471805598903, 5.497923018708371e-14];
    const LOG10_2: [Self; 2] = [0.30102999566395283, 2.8363394551044964e-14];
    const LOG2_E: [Self; 2] = [1.4426950408889634, 2.0355273740931033e-17];
    const LOG10_E: [Self; 2] = [0.4342944819032518, 1.098319650216765e-17];
    const PI: [Self; 3] = [3.141592653589793, 1.224646799147353e-16, 2.1657133478438278e-32];
    const HALF_PI: [Self; 2] = [1.5707963267948966, 6.123233995736766e-17];

    /// 2^-57.9.
    const EXP: &'static [Self] = &[
        0.5000000000000011,
        0.16666666666666402,
        0.04166666666652796,
        0.008333333333500977,
        0.0013888888944307877,
        0.00019841269493653296,
        2.480149231109131e-05,
        2.75575968683336e-06,
        2.7630555580528644e-07,
        2.499706654906849e-08,
    ];
    /// 2^-58.5.
    const LOG: &'static [Self] = &[
        0.6666666666666735,
        0.3999999999940747,
        0.2857142874414496,
        0.2222219837815933,
        0.18183575179436623,
        0.15313755463196146,
        0.14799068537133564,
    ];
    const LOG_BEYOND: &'static [Self] = &[];
    /// 2^-61.6.
    const SIN: &'static [Self] = &[
        -0.16666666666666666,
        0.008333333333333193,
        -0.00019841269841208475,
        2.755731921100615e-06,
        -2.5052106860495165e-08,
        1.6058939072988684e-10,
        -7.642974665861954e-13,
        2.7209942776084188e-15,
    ];
    /// 2^-60.6.
    const TANH: &'static [Self] = &[
        -0.333333333333333,
        0.13333333333326622,
        -0.05396825396376049,
        0.021869488385852426,
        -0.008863232601388911,
        0.0035920920299503207,
        -0.001455542842902417,
        0.0005884444755509835,
        -0.0002333815406247776,
        8.331641519566199e-05,
        -1.949466931633398e-05,
    ];
    const TANH_QUARTERS: &'static [[Self; 32]] = &[];
    /// 2^-56.6.
    const SINH: &'static [Self] = &[
        0.16666666666666669,
        0.008333333333333148,
        0.00019841269841431867,
        2.7557319157073305e-06,
        2.5052123136519673e-08,
        1.6057259783146664e-10,
        7.758748397617624e-13,
    ];
    /// 2^-55.8.
    const TAN: &'static [Self] = &[
        0.3333333333333277,
        0.13333333333415515,
        0.053968253926238656,
        0.021869489619349515,
        0.008863219017691918,
        0.0035922904081779387,
        0.001454749846141125,
        0.0005950991048160074,
        0.0002222779508011703,
        0.00013673638645309388,
        -2.6684688661795186e-05,
        8.972784465273158e-05,
        -4.50258842953931e-05,
        2.089930996685737e-05,
    ];
    /// 2^-55.7.
    const ASIN: &'static [Self] = &[
        0.16666666666665408,
        0.07500000000336934,
        0.044642856828381025,
        0.030381959135178205,
        0.022371758086993716,
        0.01735970427957696,
        0.013885239759773838,
        0.012169185824173319,
        0.0065280789455276185,
        0.019527999062053367,
        -0.016223857915813645,
        0.03191201220318834,
    ];
    /// 2^-57.5.
    const ATAN: &'static [Self] = &[
        -0.3333333333333298,
        0.1999999999990315,
        -0.14285714276389191,
        0.11111110659767262,
        -0.09090896247715863,
        0.07692073955151511,
        -0.06663811016511541,
        0.05858301411911513,
        -0.05122016079596683,
        0.04186531192549582,
        -0.027435352768423706,
        0.010117112135467614,
    ];
    /// 2^-62.7.
    const ERF: &'static [Self] = &[
        0.1283791670955126,
        -0.3761263890318375,
        0.11283791670954857,
        -0.026866170645072893,
        0.00522397762478085,
        -0.000854832697874119,
        0.0001205533103686139,
        -1.4925593505947668e-05,
        1.6460972801596573e-06,
        -1.6350025056528846e-07,
        1.4657878711756045e-08,
        -1.136566155533025e-09,
        5.945254252513978e-11,
    ];
    /// 2^-57.0.
    const LOG_ERFC: &'static [Self] = &[
        -5.02617192004222e-07,
        -1.1283740915867582,
        -0.6366436192050191,
        -0.10270346253934184,
        0.018990219980114863,
        0.0004105742006165541,
        -0.00191589031427655,
        0.0007706028018138184,
        -0.0001350263123371491,
        -2.0277918623588275e-05,
        2.282664655482086e-05,
        -8.668357264730777e-06,
        2.1359426398598582e-06,
        -3.733473756638233e-07,
        4.6428327018373255e-08,
        -3.934717187687927e-09,
        2.0451994047066096e-10,
        -4.929190398515648e-12,
    ];

    /// 2^-56.7.
    const EXP2: &'static [Self] = &[
        0.6931471805599453,
        0.24022650695910097,
        0.0555041086648216,
        0.009618129107606888,
        0.0013333558146416936,
        0.0001540353044173605,
        1.525273382983612e-05,
        1.321544258792169e-06,
        1.0178062445845774e-07,
        7.072585949269223e-09,
        4.4549605981865186e-10,
    ];
    const LOG2_TAIL: &'static [Self] = &[];

    fn sin_of_large(x: Self) -> Self {
        x.sin()
    }
    fn cos_of_large(x: Self) -> Self {
        x.cos()
    }
    fn tan_of_large(x: Self) -> Self {
        x.tan()
    }
}

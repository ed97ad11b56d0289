//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(feature = "random"), allow(unused_imports))]

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{as_count, as_shape, factory};
use crate::shape::Shape;

op! {
    {
        /// Uniform random numbers in `[0, 1)`.
        ///
        /// Args: `size` integers or one sequence of them; `generator` draws (the default one); `dtype` (the default
        /// float dtype); the rest as `empty`.
        ///
        /// Returns: the numbers that torch draws from the same seed.
        ///
        /// Errors: as `empty`, and for a dtype that is neither floating nor complex.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::rand([2, 3]).shape(), [2, 3]);
        /// ```
    }
    fn [rand try_rand rand_with try_rand_with] ([] size: impl Into<Shape>)
    made [rand try_rand rand_with try_rand_with] ([] size: impl Into<Shape>)
    -> Tensor = engine::random::factory::rand, (as_shape(size).as_slice(), None, factory(None, false))
    {['o] o: GeneratorDtypeRequiresGradOptions<'o> => Tensor = (as_shape(size).as_slice(), o.generator, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// Normal random numbers of mean 0 and standard deviation 1.
        ///
        /// Args: `size` integers or one sequence of them; `generator` draws (the default one); `dtype` (the default
        /// float dtype); the rest as `empty`.
        ///
        /// Returns: the numbers that torch draws from the same seed.
        ///
        /// Errors: as `empty`, and for a dtype that is neither floating nor complex.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::randn([2, 3]).shape(), [2, 3]);
        /// ```
    }
    fn [randn try_randn randn_with try_randn_with] ([] size: impl Into<Shape>)
    made [randn try_randn randn_with try_randn_with] ([] size: impl Into<Shape>)
    -> Tensor = engine::random::factory::randn, (as_shape(size).as_slice(), None, factory(None, false))
    {['o] o: GeneratorDtypeRequiresGradOptions<'o> => Tensor = (as_shape(size).as_slice(), o.generator, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// Random integers in `[0, high)`.
        ///
        /// Args: `high` an integer; `size` a sequence of integers; `generator` draws (the default one); `dtype`
        /// (int64); the rest as `empty`.
        ///
        /// Returns: the numbers that torch draws from the same seed.
        ///
        /// Errors: as `empty`, and if the range is empty or leaves the dtype.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::randint(1, [2]).to_vec::<i64>()?, [0, 0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [randint try_randint randint_with try_randint_with] ([] high: i64, size: impl Into<Shape>)
    made [randint try_randint randint_with try_randint_with] ([] high: i64, size: impl Into<Shape>)
    -> Tensor = engine::random::factory::randint_to, (high, as_shape(size).as_slice(), None, factory(None, false))
    {['o] o: GeneratorDtypeRequiresGradOptions<'o> => Tensor = (high, as_shape(size).as_slice(), o.generator,
        factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// Random integers in `[low, high)`.
        ///
        /// Args: `low`, `high` integers; `size` a sequence of integers; `generator` draws (the default one); `dtype`
        /// (int64); the rest as `empty`.
        ///
        /// Returns: the numbers that torch draws from the same seed.
        ///
        /// Errors: as `empty`, and if the range is empty or leaves the dtype.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::randint_from(7, 8, [2]).to_vec::<i64>()?, [7, 7]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "randint")]
    }
    fn [randint_from try_randint_from randint_from_with try_randint_from_with] ([] low: i64, high: i64,
        size: impl Into<Shape>)
    made [randint_from try_randint_from randint_from_with try_randint_from_with] ([] low: i64, high: i64,
        size: impl Into<Shape>)
    -> Tensor = engine::random::factory::randint_from, (low, high, as_shape(size).as_slice(), None, factory(None,
        false))
    {['o] o: GeneratorDtypeRequiresGradOptions<'o> => Tensor = (low, high, as_shape(size).as_slice(), o.generator,
        factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// A random permutation of the integers from 0 to before `n`.
        ///
        /// Args: `n` how many; `generator` draws (the default one); `dtype` (int64); the rest as `empty`.
        ///
        /// Returns: a 1-dim tensor.
        ///
        /// Errors: if `n` is negative or too large for the dtype.
    }
    fn [randperm try_randperm randperm_with try_randperm_with] ([] n: usize)
    made [randperm try_randperm randperm_with try_randperm_with] ([] n: usize)
    -> Tensor = engine::random::factory::randperm, (as_count(n), None, factory(None, false))
    {['o] o: GeneratorDtypeRequiresGradOptions<'o> => Tensor = (as_count(n), o.generator, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// Uniform random numbers in `[0, 1)`, of the size and dtype of `input`.
        ///
        /// Args: `input` any tensor; `generator` draws (the default one); `dtype` another dtype; the rest as
        /// `empty_like`.
        ///
        /// Errors: as `rand`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::rand_like(&Tensor::zeros([2])).shape(), [2]);
        /// ```
    }
    fn [rand_like try_rand_like rand_like_with try_rand_like_with] ([] input: &Tensor)
    -> Tensor = engine::random::factory::rand_like, (input.engine(), None, factory(None, false), None)
    {['o] o: RandLikeOptions<'o> => Tensor = (input.engine(), o.generator, factory(o.dtype, o.requires_grad),
        o.memory_format)}
}

op! {
    {
        /// Normal random numbers of mean 0 and standard deviation 1, of the size and dtype of `input`.
        ///
        /// Args: `input` any tensor; `generator` draws (the default one); `dtype` another dtype; the rest as
        /// `empty_like`.
        ///
        /// Errors: as `randn`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::randn_like(&Tensor::zeros([2])).shape(), [2]);
        /// ```
    }
    fn [randn_like try_randn_like randn_like_with try_randn_like_with] ([] input: &Tensor)
    -> Tensor = engine::random::factory::randn_like, (input.engine(), None, factory(None, false), None)
    {['o] o: RandLikeOptions<'o> => Tensor = (input.engine(), o.generator, factory(o.dtype, o.requires_grad),
        o.memory_format)}
}

op! {
    {
        /// Random integers in `[0, high)`, of the size and dtype of `input`.
        ///
        /// Args: `input` any tensor; `high` an integer; `generator` draws (the default one); `dtype` another dtype; the
        /// rest as `empty_like`.
        ///
        /// Errors: as `randint`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::randint_like(&Tensor::zeros([2]), 1).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [randint_like try_randint_like randint_like_with try_randint_like_with] ([] input: &Tensor, high: i64)
    -> Tensor = engine::random::factory::randint_like_to, (input.engine(), high, None, factory(None, false), None)
    {['o] o: RandLikeOptions<'o> => Tensor = (input.engine(), high, o.generator, factory(o.dtype, o.requires_grad),
        o.memory_format)}
}

op! {
    {
        /// Random integers in `[low, high)`, of the size and dtype of `input`.
        ///
        /// Args: `input` any tensor; `low`, `high` integers; `generator` draws (the default one); `dtype` another
        /// dtype; the rest as `empty_like`.
        ///
        /// Errors: as `randint`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::randint_like_from(&Tensor::zeros([2]), 7, 8).to_vec::<f64>()?, [7.0, 7.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "randint_like")]
    }
    fn [randint_like_from try_randint_like_from randint_like_from_with try_randint_like_from_with] ([] input: &Tensor,
        low: i64, high: i64)
    -> Tensor = engine::random::factory::randint_like_from, (input.engine(), low, high, None, factory(None, false),
        None)
    {['o] o: RandLikeOptions<'o> => Tensor = (input.engine(), low, high, o.generator, factory(o.dtype, o.requires_grad),
        o.memory_format)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with uniform random numbers in `[from, to)`.
        ///
        /// Args: `from`, `to` numbers; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for an empty range; for a dtype that is neither floating nor complex.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2]).uniform_with_(|o| o.from(3.0).to(3.0)).to_vec::<f64>()?, [3.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    } [uniform_ try_uniform_ uniform_with_ try_uniform_with_] ([] &self) {let input = self;}
        {engine::random::uniform_as}
    -> Tensor = engine::random::uniform, (input.engine(), 0.0, 1.0, None)
    {['o] o: UniformOptions<'o> => Tensor = (input.engine(), o.from, o.to, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with normal random numbers.
        ///
        /// Args: `mean`, `std` numbers; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a negative `std`; for a dtype that is neither floating nor complex.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2]).normal_with_(|o| o.mean(3.0).std(0.0)).to_vec::<f64>()?, [3.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    } [normal_ try_normal_ normal_with_ try_normal_with_] ([] &self) {let input = self;} {engine::random::normal_as}
    -> Tensor = engine::random::normal, (input.engine(), 0.0, 1.0, None)
    {['o] o: NormalOptions<'o> => Tensor = (input.engine(), o.mean, o.std, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with exponentially distributed random numbers, whose mean is `1 / lambd`.
        ///
        /// Args: `lambd` a positive number; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a `lambd` that is not positive, and for a dtype that is not floating.
    } [exponential_ try_exponential_ exponential_with_ try_exponential_with_] ([] &self) {let input = self;}
        {engine::random::exponential_as}
    -> Tensor = engine::random::exponential, (input.engine(), 1.0, None)
    {['o] o: LambdGeneratorOptions<'o> => Tensor = (input.engine(), o.lambd, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with random numbers of Cauchy's distribution, `sigma / (pi * (sigma**2 + (x -
        /// median)**2))`.
        ///
        /// Args: `median` a number, `sigma` a positive one; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a `sigma` that is not positive, and for a dtype that is not floating.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2]).cauchy_with_(|o| o.median(3.0).sigma(1e-30)).to_vec::<f64>()?, [3.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    } [cauchy_ try_cauchy_ cauchy_with_ try_cauchy_with_] ([] &self) {let input = self;} {engine::random::cauchy_as}
    -> Tensor = engine::random::cauchy, (input.engine(), 0.0, 1.0, None)
    {['o] o: CauchyOptions<'o> => Tensor = (input.engine(), o.median, o.sigma, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with the exponentials of normal random numbers.
        ///
        /// Args: `mean`, `std` of the normal numbers, `std` positive; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a `std` that is not positive; for a dtype that is not floating.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2]).log_normal_with_(|o| o.mean(0.0).std(1e-30)).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    } [log_normal_ try_log_normal_ log_normal_with_ try_log_normal_with_] ([] &self) {let input = self;}
        {engine::random::log_normal_as}
    -> Tensor = engine::random::log_normal, (input.engine(), 1.0, 2.0, None)
    {['o] o: LogNormalOptions<'o> => Tensor = (input.engine(), o.mean, o.std, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with random counts: how many trials it takes to succeed, each with the chance `p`.
        ///
        /// Args: `p` a number between 0 and 1; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for another `p`; for bool and complex tensors.
    } [geometric_ try_geometric_ geometric_with_ try_geometric_with_] ([] &self,
        p: f64) {let input = self;} {engine::random::geometric_as}
    -> Tensor = engine::random::geometric, (input.engine(), p, None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), p, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with random integers in `[from, to)`.
        ///
        /// Args: `from`, `to` integers, `None` for the largest of the dtype; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: if the range is empty or leaves the dtype.
        #[doc(alias = "random")]
    } [random_from_ try_random_from_ random_from_with_ try_random_from_with_] ([] &self, from: i64,
        to: Option<i64>) {let input = self;} {engine::random::random_from_as}
    -> Tensor = engine::random::random_from, (input.engine(), from, to, None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), from, to, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with random integers in `[0, to)`.
        ///
        /// Args, Derivative, Errors: as above.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([2]).random_to_(1).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "random")]
    } [random_to_ try_random_to_ random_to_with_ try_random_to_with_] ([] &self,
        to: i64) {let input = self;} {engine::random::random_to_as}
    -> Tensor = engine::random::random_to, (input.engine(), to, None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), to, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with random integers from 0 to the largest of its dtype (for floats, to the largest up
        /// to which all are exact).
        ///
        /// Args: `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2]).random_().shape(), [2]);
        /// ```
    } [random_ try_random_ random_with_ try_random_with_] ([] &self) {let input = self;} {engine::random::random_as}
    -> Tensor = engine::random::random, (input.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), o.generator)}
}

op! {
    {
        /// 1 with the probability in each element, else 0.
        ///
        /// Args: `input` probabilities of a floating dtype; `generator` draws (the default one).
        ///
        /// Returns: the same shape and dtype.
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a probability outside 0 to 1.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 1.0].bernoulli().to_vec::<f64>()?, [0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bernoulli try_bernoulli bernoulli_with try_bernoulli_with] ([] input: &Tensor)
    method [bernoulli try_bernoulli bernoulli_with try_bernoulli_with] ([] &self) {let input = self;}
    -> Tensor = engine::random::bernoulli, (input.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), o.generator)}
}

op! {
    {
        /// 1 with probability `p`, else 0, of the size and dtype of `input`.
        ///
        /// Args: `p` a number; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a probability outside 0 to 1.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2]).bernoulli_p(1.0).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "bernoulli")]
    }
    fn [bernoulli_p try_bernoulli_p bernoulli_p_with try_bernoulli_p_with] ([] input: &Tensor, p: f64)
    method [bernoulli_p try_bernoulli_p bernoulli_p_with try_bernoulli_p_with] ([] &self, p: f64) {let input = self;}
    -> Tensor = engine::random::bernoulli_with, (input.engine(), p, None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), p, o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with 1 with the probability in each element of `p`, else 0.
        ///
        /// Args: `p` probabilities of a floating dtype, broadcast; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a probability outside 0 to 1, or if `p` does not broadcast to the tensor.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(Tensor::zeros([2]).bernoulli_each_(&tensor![0f32, 1.0]).to_vec::<f64>()?, [0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "bernoulli")]
    } [bernoulli_each_ try_bernoulli_each_ bernoulli_each_with_ try_bernoulli_each_with_] ([] &self,
        p: &Tensor) {let input = self;} {engine::random::bernoulli_each_as}
    -> Tensor = engine::random::bernoulli_each, (input.engine(), p.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), p.engine(), o.generator)}
}

op! {
    {}
    in_place {
        /// Overwrites the tensor with 1 with probability `p`, else 0.
        ///
        /// Args: `p` a number; `generator` draws (the default one).
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a probability outside 0 to 1.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2]).bernoulli_with_(|o| o.p(1.0)).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    } [bernoulli_ try_bernoulli_ bernoulli_with_ try_bernoulli_with_] ([] &self) {let input = self;}
        {engine::random::bernoulli_all_as}
    -> Tensor = engine::random::bernoulli_all, (input.engine(), 0.5, None)
    {['o] o: BernoulliOptions<'o> => Tensor = (input.engine(), o.p, o.generator)}
}

op! {
    {
        /// Indices, each drawn with the probability that stands there.
        ///
        /// Args: `input` weights, none negative, that need not sum to 1: a vector or rows of them, floating dtype;
        /// `num_samples` how many indices for each; `replacement` lets an index be drawn again; `generator` draws (the
        /// default one).
        ///
        /// Returns: int64 of sizes (num_samples,) or (rows, num_samples). No derivative.
        ///
        /// Errors: for other shapes or dtypes, too many samples, or weights that are negative, not finite or all zero.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 2.0, 0.0].multinomial_with(2, |o| o.replacement(true)).to_vec::<i64>()?, [1, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [multinomial try_multinomial multinomial_with try_multinomial_with] ([] input: &Tensor, num_samples: usize)
    method [multinomial try_multinomial multinomial_with try_multinomial_with] ([] &self,
        num_samples: usize) {let input = self;}
    -> Tensor = engine::random::choice::multinomial, (input.engine(), as_count(num_samples), false, None)
    {['o] o: MultinomialOptions<'o> => Tensor = (input.engine(), as_count(num_samples), o.replacement, o.generator)}
}

op! {
    {
        /// Normal random numbers around the elements of a tensor.
        ///
        /// Args: `mean` the mean of each number, floating or complex dtype; `std` the standard deviation of all;
        /// `generator` draws (the default one).
        ///
        /// Returns: a tensor of the shape and dtype of `mean`.
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a negative `std`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::normal_around_with(&tensor![1f32, 2.0], |o| o.std(0.0)).to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "normal")]
    }
    fn [normal_around try_normal_around normal_around_with try_normal_around_with] ([] mean: &Tensor)
    -> Tensor = engine::random::choice::normal_around, (mean.engine(), 1.0, None)
    {['o] o: NormalAroundOptions<'o> => Tensor = (mean.engine(), o.std, o.generator)}
}

op! {
    {
        /// Normal random numbers with a deviation of each.
        ///
        /// Args: `mean` the mean of all; `std` a tensor of standard deviations; the rest as above.
        ///
        /// Errors: for a negative deviation.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::normal_within(3.0, &tensor![0f32, 0.0]).to_vec::<f64>()?, [3.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "normal")]
    }
    fn [normal_within try_normal_within normal_within_with try_normal_within_with] ([] mean: f64, std: &Tensor)
    -> Tensor = engine::random::choice::normal_within, (mean, std.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (mean, std.engine(), o.generator)}
}

op! {
    {
        /// Normal random numbers with a mean and a deviation of each.
        ///
        /// Args: `mean`, `std` tensors whose shapes broadcast; the rest as above.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::normal_each(&tensor![1f32, 2.0], &tensor![0f32]).to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "normal")]
    }
    fn [normal_each try_normal_each normal_each_with try_normal_each_with] ([] mean: &Tensor, std: &Tensor)
    -> Tensor = engine::random::choice::normal_each, (mean.engine(), std.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (mean.engine(), std.engine(), o.generator)}
}

op! {
    {
        /// Normal random numbers of one mean and deviation.
        ///
        /// Args: `mean`, `std` numbers; `size` the sizes of the result; `generator` draws (the default one); `dtype`
        /// (the default float dtype).
        ///
        /// Errors: for a negative `std` or size.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::normal(2.0, 0.0, [2]).to_vec::<f64>()?, [2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [normal try_normal normal_with try_normal_with] ([] mean: f64, std: f64, size: impl Into<Shape>)
    made [normal try_normal normal_with try_normal_with] ([] mean: f64, std: f64, size: impl Into<Shape>)
    -> Tensor = engine::random::choice::normal_of_size, (mean, std, as_shape(size).as_slice(), None, factory(None,
        false))
    {['o] o: GeneratorDtypeRequiresGradOptions<'o> => Tensor = (mean, std, as_shape(size).as_slice(), o.generator,
        factory(o.dtype, o.requires_grad))}
}

#[cfg(feature = "random")]
op! {
    {
        /// Random counts of Poisson's distribution with the rates in `input`.
        ///
        /// Args: `input` not negative, floating dtype; `generator` draws (the default one).
        ///
        /// Returns: the same shape and dtype.
        ///
        /// Derivative: zero.
        ///
        /// Errors: for a negative rate; for integers.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::poisson(&Tensor::zeros([2])).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `random`.
    }
    fn [poisson try_poisson poisson_with try_poisson_with] ([] input: &Tensor)
    -> Tensor = engine::random::variates::poisson, (input.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), o.generator)}
}

#[cfg(feature = "random")]
op! {
    {
        /// Random counts of successes in `count` trials, each with the chance `prob`.
        ///
        /// Args: `count`, `prob` float32 or float64, both of one dtype, with broadcastable shapes; chances outside 0 to
        /// 1 count as these; `generator` draws (the default one).
        ///
        /// Returns: a tensor of the broadcast shape and the same dtype; NaN where an argument is. No derivative.
        ///
        /// Errors: for integers, for different dtypes.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::binomial(&tensor![5f32, 5.0], &tensor![0f32, 1.0]).to_vec::<f64>()?, [0.0, 5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `random`.
    }
    fn [binomial try_binomial binomial_with try_binomial_with] ([] count: &Tensor, prob: &Tensor)
    -> Tensor = engine::random::variates::binomial, (count.engine(), prob.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (count.engine(), prob.engine(), o.generator)}
}

#[cfg(feature = "random")]
op! {
    {
        /// Random numbers of the gamma distribution, of scale 1 and the shapes (often called alpha) in `input`.
        ///
        /// Args: `input` positive, float32 or float64; `generator` draws (the default one).
        ///
        /// Returns: the same shape and dtype, never 0.
        ///
        /// Derivative: `g` times that of the quantile by the shape, `-(dP/da) / p` with the distribution function `P`
        /// and density `p` (Figurnov, Mohamed and Mnih 2018), exact where torch approximates, and to second order,
        /// which torch has not.
        ///
        /// Errors: for other dtypes.
        ///
        /// Needs the feature `random`.
        #[doc(alias = "_standard_gamma")]
    }
    fn [standard_gamma try_standard_gamma standard_gamma_with try_standard_gamma_with] ([] input: &Tensor)
    -> Tensor = engine::random::variates::standard_gamma, (input.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), o.generator)}
}

#[cfg(feature = "random")]
op! {
    {
        /// How random numbers of the gamma distribution change with the shape: the derivative of `standard_gamma`.
        ///
        /// Args: `input` the shapes, `output` the numbers, floating dtype, with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape; NaN for shapes and numbers that are not positive.
        ///
        /// Derivative: by `input` and by `output`, of first order; torch has none.
        ///
        /// Errors: if shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::standard_gamma_grad(&tensor![1f32], &tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `random`.
        #[doc(alias = "_standard_gamma_grad")]
    }
    fn [standard_gamma_grad try_standard_gamma_grad] ([] input: &Tensor, output: &Tensor)
    -> Tensor = engine::random::variates::standard_gamma_grad, (input.engine(), output.engine())
    {}
}

#[cfg(feature = "random")]
op! {
    {
        /// Random shares of a whole, of Dirichlet's distribution with the concentrations in the rows of `input`.
        ///
        /// Args: `input` positive, float32 or float64; `generator` draws (the default one).
        ///
        /// Returns: the same shape and dtype; each row of the last dim sums to 1.
        ///
        /// Derivative: `s * (g - sum(result * g))` with the slopes `s` of `_dirichlet_grad`.
        ///
        /// Errors: for other dtypes, and for second derivatives.
        ///
        /// Needs the feature `random`.
        #[doc(alias = "_sample_dirichlet")]
    }
    fn [sample_dirichlet try_sample_dirichlet sample_dirichlet_with try_sample_dirichlet_with] ([] input: &Tensor)
    -> Tensor = engine::random::variates::sample_dirichlet, (input.engine(), None)
    {['o] o: GeneratorOptions<'o> => Tensor = (input.engine(), o.generator)}
}

#[cfg(feature = "random")]
op! {
    {
        /// How a random share of Dirichlet's distribution changes with its concentration: the derivative of a number
        /// `x` of the beta distribution of `alpha` and `total - alpha` by `alpha`, over `1 - x`.
        ///
        /// Args: `x`, `alpha`, `total` float32 or float64 of one dtype, with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape: `-(dI/dalpha) / p / (1 - x)` with the distribution function `I`
        /// (DLMF 8.17.22, differentiated term by term) and density `p`. No derivative.
        ///
        /// Errors: for different dtypes or if shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::dirichlet_grad(&tensor![0.5f32], &tensor![1f32], &tensor![2f32]);
        /// assert_eq!(y.to_vec::<f64>()?, [0.6931471824645996]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `random`.
        #[doc(alias = "_dirichlet_grad")]
    }
    fn [dirichlet_grad try_dirichlet_grad] ([] x: &Tensor, alpha: &Tensor, total: &Tensor)
    -> Tensor = engine::random::variates::dirichlet_grad, (x.engine(), alpha.engine(), total.engine())
    {}
}

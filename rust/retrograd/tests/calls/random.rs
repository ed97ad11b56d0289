//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(feature = "random"), allow(unused_imports))]

use super::*;

pub fn calls() {
    ops::rand(any::<i64>());
    ops::rand_with(any::<i64>(), |o| o);
    Tensor::rand(any::<i64>());
    Tensor::rand_with(any::<i64>(), |o| o);
    ops::randn(any::<i64>());
    ops::randn_with(any::<i64>(), |o| o);
    Tensor::randn(any::<i64>());
    Tensor::randn_with(any::<i64>(), |o| o);
    ops::randint(any(), any::<i64>());
    ops::randint_with(any(), any::<i64>(), |o| o);
    Tensor::randint(any(), any::<i64>());
    Tensor::randint_with(any(), any::<i64>(), |o| o);
    ops::randint_from(any(), any(), any::<i64>());
    ops::randint_from_with(any(), any(), any::<i64>(), |o| o);
    Tensor::randint_from(any(), any(), any::<i64>());
    Tensor::randint_from_with(any(), any(), any::<i64>(), |o| o);
    ops::randperm(any());
    ops::randperm_with(any(), |o| o);
    Tensor::randperm(any());
    Tensor::randperm_with(any(), |o| o);
    ops::rand_like(any());
    ops::rand_like_with(any(), |o| o);
    ops::randn_like(any());
    ops::randn_like_with(any(), |o| o);
    ops::randint_like(any(), any());
    ops::randint_like_with(any(), any(), |o| o);
    ops::randint_like_from(any(), any(), any());
    ops::randint_like_from_with(any(), any(), any(), |o| o);
    any::<&Tensor>().uniform_();
    any::<&Tensor>().uniform_with_(|o| o);
    any::<&Tensor>().normal_();
    any::<&Tensor>().normal_with_(|o| o);
    any::<&Tensor>().exponential_();
    any::<&Tensor>().exponential_with_(|o| o);
    any::<&Tensor>().cauchy_();
    any::<&Tensor>().cauchy_with_(|o| o);
    any::<&Tensor>().log_normal_();
    any::<&Tensor>().log_normal_with_(|o| o);
    any::<&Tensor>().geometric_(any());
    any::<&Tensor>().geometric_with_(any(), |o| o);
    any::<&Tensor>().random_from_(any(), any());
    any::<&Tensor>().random_from_with_(any(), any(), |o| o);
    any::<&Tensor>().random_to_(any());
    any::<&Tensor>().random_to_with_(any(), |o| o);
    any::<&Tensor>().random_();
    any::<&Tensor>().random_with_(|o| o);
    ops::bernoulli(any());
    ops::bernoulli_with(any(), |o| o);
    any::<&Tensor>().bernoulli();
    any::<&Tensor>().bernoulli_with(|o| o);
    ops::bernoulli_p(any(), any());
    ops::bernoulli_p_with(any(), any(), |o| o);
    any::<&Tensor>().bernoulli_p(any());
    any::<&Tensor>().bernoulli_p_with(any(), |o| o);
    any::<&Tensor>().bernoulli_each_(any());
    any::<&Tensor>().bernoulli_each_with_(any(), |o| o);
    any::<&Tensor>().bernoulli_();
    any::<&Tensor>().bernoulli_with_(|o| o);
    ops::multinomial(any(), any());
    ops::multinomial_with(any(), any(), |o| o);
    any::<&Tensor>().multinomial(any());
    any::<&Tensor>().multinomial_with(any(), |o| o);
    ops::normal_around(any());
    ops::normal_around_with(any(), |o| o);
    ops::normal_within(any(), any());
    ops::normal_within_with(any(), any(), |o| o);
    ops::normal_each(any(), any());
    ops::normal_each_with(any(), any(), |o| o);
    ops::normal(any(), any(), any::<i64>());
    ops::normal_with(any(), any(), any::<i64>(), |o| o);
    Tensor::normal(any(), any(), any::<i64>());
    Tensor::normal_with(any(), any(), any::<i64>(), |o| o);
    #[cfg(feature = "random")]
    {
        ops::poisson(any());
        ops::poisson_with(any(), |o| o);
        ops::binomial(any(), any());
        ops::binomial_with(any(), any(), |o| o);
        ops::standard_gamma(any());
        ops::standard_gamma_with(any(), |o| o);
        ops::standard_gamma_grad(any(), any());
        ops::sample_dirichlet(any());
        ops::sample_dirichlet_with(any(), |o| o);
        ops::dirichlet_grad(any(), any(), any());
    }
}

//! Small statements as programs write them: four floats, so that time is dispatch, recording and the engine. A name
//! that `benches/statements.py` or `benches/cases.py` has is the same statement there.

use std::hint::black_box;

use retrograd::prelude::*;
use retrograd::{func, ops};

type Run = Box<dyn FnMut()>;
type Statement = (&'static str, fn() -> Run);

/// Statements by their names, each as what makes its operands and returns the statement.
pub const STATEMENTS: &[Statement] = &[
    ("p + q", || {
        let (p, q) = (plain(), plain());
        run(move || &p + &q)
    }),
    ("a + b, recorded", || {
        let (a, b) = (leaf(), leaf());
        run(move || &a + &b)
    }),
    ("a * 2.0, recorded", || {
        let a = leaf();
        run(move || &a * 2.0)
    }),
    ("p * q", || {
        let (p, q) = (plain(), plain());
        run(move || &p * &q)
    }),
    ("p.exp()", || {
        let p = plain();
        run(move || p.exp())
    }),
    ("a.exp(), recorded", || {
        let a = leaf();
        run(move || a.exp())
    }),
    ("p.sum()", || {
        let p = plain();
        run(move || p.sum())
    }),
    ("a.sum(), recorded", || {
        let a = leaf();
        run(move || a.sum())
    }),
    ("a.view(2, 2), recorded", || {
        let a = leaf();
        run(move || a.view([2, 2]))
    }),
    ("a[0], recorded", || {
        let a = leaf();
        run(move || a.i(0))
    }),
    ("a[1:3], recorded", || {
        let a = leaf();
        run(move || a.i(1..3))
    }),
    ("p.add_(q)", || {
        let (p, q) = (plain(), plain());
        run(move || p.add_(&q))
    }),
    ("m @ m, 4 x 4", || {
        let m = Tensor::randn([4, 4]);
        run(move || m.matmul(&m))
    }),
    ("chain of 100, both ways", || {
        let (a, q) = (leaf(), plain());
        run(move || {
            chain(&a, &q, 100).sum().backward().unwrap();
            a.zero_grad();
        })
    }),
    ("backward, per node of a chain", || {
        let (a, q, g) = (leaf(), plain(), Tensor::ones([4]));
        let y = chain(&a, &q, 100);
        run(move || y.backward_with(|o| o.gradient(&g).retain_graph(true)).unwrap())
    }),
    ("Function, both ways", || {
        let (a, g) = (leaf(), Tensor::ones([4]));
        run(move || {
            Double::apply(a.clone()).backward_with(|o| o.gradient(&g)).unwrap();
            a.zero_grad();
        })
    }),
    ("hook", || {
        let (a, q, g) = (leaf(), plain(), Tensor::ones([4]));
        run(move || {
            let y = &a * &q;
            y.register_hook(|_: &Tensor| ()).unwrap();
            y.backward_with(|o| o.gradient(&g)).unwrap();
            a.zero_grad();
        })
    }),
    ("grad of a chain of 20", || {
        let (a, q, g) = (leaf(), plain(), Tensor::ones([4]));
        run(move || grad_with(chain(&a, &q, 20), &a, |o| o.grad_outputs(&g)).unwrap())
    }),
    ("double backward", || {
        let a = leaf();
        run(move || {
            let first = grad_with((&a * &a).sum(), &a, |o| o.create_graph(true)).unwrap();
            grad(first[0].sum(), &a).unwrap()
        })
    }),
    ("MLP step, batch 32, hidden 64", || {
        let (x, target) = (Tensor::randn([32, 64]), Tensor::randint(10, [32]));
        let [w1, b1] = [Tensor::randn([64, 64]), Tensor::randn([64])].map(|t| t.requires_grad_(true));
        let [w2, b2] = [Tensor::randn([10, 64]), Tensor::randn([10])].map(|t| t.requires_grad_(true));
        run(move || {
            let hidden = ops::nn::linear_with(&x, &w1, |o| o.bias(&b1)).relu();
            let out = ops::nn::linear_with(&hidden, &w2, |o| o.bias(&b2));
            ops::nn::cross_entropy(&out, &target).backward().unwrap();
            no_grad(|| {
                for p in [&w1, &b1, &w2, &b2] {
                    p.add_with_(p.grad().unwrap(), |o| o.alpha(-1e-3));
                    p.zero_grad();
                }
            });
        })
    }),
    ("jacobian of tanh(W @ x), 16 inputs", || {
        let (w, x) = (Tensor::randn([16, 16]), Tensor::randn([16]));
        let jacobian = func::jacobian(move |x: &Tensor| w.matmul(x).tanh());
        run(move || jacobian(&x))
    }),
    ("vmap of tanh(W @ x), 16 inputs, 8 of them", || {
        let (w, x) = (Tensor::randn([16, 16]), Tensor::randn([8, 16]));
        let each = func::vmap(move |x: &Tensor| w.matmul(x).tanh());
        run(move || each(&x))
    }),
];

fn run<T>(mut statement: impl FnMut() -> T + 'static) -> Run {
    Box::new(move || {
        black_box(statement());
    })
}

fn plain() -> Tensor {
    Tensor::randn([4])
}

fn leaf() -> Tensor {
    plain().requires_grad_(true)
}

fn chain(a: &Tensor, q: &Tensor, times: usize) -> Tensor {
    (0..times).fold(a.clone(), |x, _| x * q)
}

struct Double;

impl Function for Double {
    type Inputs = Tensor;
    type Outputs = Tensor;

    fn forward(_: &mut Context, x: &Tensor) -> Result<Tensor> {
        Ok(x * 2.0)
    }

    fn backward(_: &Context, g: Tensor) -> Result<Option<Tensor>> {
        Ok(Some(g * 2.0))
    }
}

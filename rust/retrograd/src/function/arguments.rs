//! What a function of one's own takes and gives: tensors, and plain values among them.

use crate::{DType, Generator, Scalar, Tensor};

/// The inputs or outputs of a function, as a type: a [`Tensor`], an `Option<Tensor>`, an array of tensors, a `Vec` of
/// them, a plain value such as `f64` or `String` (any other, wrapped as [`Plain`]), or a tuple of up to six of these,
/// in which only the last may be a `Vec`.
///
/// Each tensor has a place, counted from 0: it is what [`Context::needs_input_grad`](crate::Context::needs_input_grad)
/// takes. An `Option<Tensor>` has one too, also if it is `None`. Plain values have none, and no gradients.
pub trait Arguments: Sized + 'static {
    /// What a rule is given for them: a gradient or tangent of the shape of each tensor, `()` for a plain value.
    type Given;
    /// What a rule returns for them: a gradient or tangent for each tensor, where `None` stands for zeros, and `()` for
    /// a plain value.
    type Returned;
    /// Appends what is in each place.
    #[doc(hidden)]
    fn put(&self, places: &mut Places);
    /// The same with other tensors in the places.
    #[doc(hidden)]
    fn in_places(&self, from: &mut Taken) -> Self;
    #[doc(hidden)]
    fn given(from: &mut Taken) -> Self::Given;
    #[doc(hidden)]
    fn returned(values: Self::Returned, places: &mut Places);
}

/// Arguments whose type says how many places they have: all but `Vec`s.
pub trait Counted: Arguments {}

/// What is in each place.
pub type Places = Vec<Option<Tensor>>;

/// Places that are taken one after the other.
pub type Taken = std::vec::IntoIter<Option<Tensor>>;

/// The tensor in the next place, of which the caller knows that it is a tensor's.
fn next(from: &mut Taken) -> Tensor {
    from.next().flatten().expect("a tensor in each place that was one's")
}

impl Arguments for Tensor {
    type Given = Tensor;
    type Returned = Option<Tensor>;
    fn put(&self, places: &mut Places) {
        places.push(Some(self.clone()));
    }
    fn in_places(&self, from: &mut Taken) -> Self {
        next(from)
    }
    fn given(from: &mut Taken) -> Tensor {
        next(from)
    }
    fn returned(value: Option<Tensor>, places: &mut Places) {
        places.push(value);
    }
}
impl Counted for Tensor {}

impl Arguments for Option<Tensor> {
    type Given = Option<Tensor>;
    type Returned = Option<Tensor>;
    fn put(&self, places: &mut Places) {
        places.push(self.clone());
    }
    fn in_places(&self, from: &mut Taken) -> Self {
        from.next().flatten()
    }
    fn given(from: &mut Taken) -> Self {
        from.next().flatten()
    }
    fn returned(value: Self, places: &mut Places) {
        places.push(value);
    }
}
impl Counted for Option<Tensor> {}

impl<const N: usize> Arguments for [Tensor; N] {
    type Given = [Tensor; N];
    type Returned = [Option<Tensor>; N];
    fn put(&self, places: &mut Places) {
        places.extend(self.iter().cloned().map(Some));
    }
    fn in_places(&self, from: &mut Taken) -> Self {
        std::array::from_fn(|_| next(from))
    }
    fn given(from: &mut Taken) -> Self {
        std::array::from_fn(|_| next(from))
    }
    fn returned(values: [Option<Tensor>; N], places: &mut Places) {
        places.extend(values);
    }
}
impl<const N: usize> Counted for [Tensor; N] {}

impl Arguments for Vec<Tensor> {
    type Given = Vec<Tensor>;
    type Returned = Vec<Option<Tensor>>;
    fn put(&self, places: &mut Places) {
        places.extend(self.iter().cloned().map(Some));
    }
    fn in_places(&self, from: &mut Taken) -> Self {
        self.iter().map(|_| next(from)).collect()
    }
    fn given(from: &mut Taken) -> Self {
        from.map(|t| t.expect("a `Vec` has no empty places")).collect()
    }
    fn returned(values: Vec<Option<Tensor>>, places: &mut Places) {
        places.extend(values);
    }
}

/// A value that is no tensor, as an argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain<T>(pub T);

/// What a function takes for its inputs: the same by reference or by value.
pub trait IntoArguments<T> {
    /// As the function's own type of inputs.
    fn into_arguments(self) -> T;
}

macro_rules! plain {
    ([$($of:tt)*] $t:ty) => {
        impl<$($of)*> Arguments for $t {
            type Given = ();
            type Returned = ();
            fn put(&self, _places: &mut Places) {}
            fn in_places(&self, _from: &mut Taken) -> Self {
                Clone::clone(self)
            }
            fn given(_from: &mut Taken) {}
            fn returned(_value: (), _places: &mut Places) {}
        }
        impl<$($of)*> Counted for $t {}
        impl<$($of)*> IntoArguments<$t> for $t {
            fn into_arguments(self) -> $t {
                self
            }
        }
    };
    ($($t:ty),*) => { $(plain!([] $t);)* };
}

plain!(f32, f64, i32, i64, u32, u64, usize, bool, String, &'static str, DType, Scalar, Generator, Vec<usize>, Vec<i64>);
plain!([T: Clone + 'static] Plain<T>);

macro_rules! into_arguments {
    ($($from:ty => $to:ty: |$v:ident| $result:expr),* $(,)?) => { $(
        impl IntoArguments<$to> for $from {
            fn into_arguments(self) -> $to {
                let $v = self;
                $result
            }
        }
    )* };
}

into_arguments! {
    Tensor => Tensor: |t| t,
    &Tensor => Tensor: |t| t.clone(),
    Tensor => Option<Tensor>: |t| Some(t),
    &Tensor => Option<Tensor>: |t| Some(t.clone()),
    Option<Tensor> => Option<Tensor>: |t| t,
    Option<&Tensor> => Option<Tensor>: |t| t.cloned(),
    Vec<Tensor> => Vec<Tensor>: |ts| ts,
    &Vec<Tensor> => Vec<Tensor>: |ts| ts.clone(),
    &[Tensor] => Vec<Tensor>: |ts| ts.to_vec(),
    &[&Tensor] => Vec<Tensor>: |ts| ts.iter().map(|&t| t.clone()).collect(),
}

impl<const N: usize> IntoArguments<[Tensor; N]> for [Tensor; N] {
    fn into_arguments(self) -> [Tensor; N] {
        self
    }
}
impl<const N: usize> IntoArguments<[Tensor; N]> for &[Tensor; N] {
    fn into_arguments(self) -> [Tensor; N] {
        self.clone()
    }
}
impl<const N: usize> IntoArguments<[Tensor; N]> for [&Tensor; N] {
    fn into_arguments(self) -> [Tensor; N] {
        self.map(Tensor::clone)
    }
}
impl<const N: usize> IntoArguments<Vec<Tensor>> for [&Tensor; N] {
    fn into_arguments(self) -> Vec<Tensor> {
        self.map(Tensor::clone).into()
    }
}

macro_rules! tuple {
    ($($t:ident $from:ident $i:tt),*; $last:ident $last_from:ident $n:tt) => {
        impl<$($t: Counted,)* $last: Arguments> Arguments for ($($t,)* $last,) {
            type Given = ($($t::Given,)* $last::Given,);
            type Returned = ($($t::Returned,)* $last::Returned,);
            fn put(&self, places: &mut Places) {
                $(self.$i.put(places);)*
                self.$n.put(places);
            }
            fn in_places(&self, from: &mut Taken) -> Self {
                ($(self.$i.in_places(from),)* self.$n.in_places(from),)
            }
            fn given(from: &mut Taken) -> Self::Given {
                ($($t::given(from),)* $last::given(from),)
            }
            fn returned(values: Self::Returned, places: &mut Places) {
                $($t::returned(values.$i, places);)*
                $last::returned(values.$n, places);
            }
        }
        impl<$($t: Counted,)* $last: Counted> Counted for ($($t,)* $last,) {}
        impl<$($t, $from: IntoArguments<$t>,)* $last, $last_from: IntoArguments<$last>>
            IntoArguments<($($t,)* $last,)> for ($($from,)* $last_from,)
        {
            fn into_arguments(self) -> ($($t,)* $last,) {
                ($(self.$i.into_arguments(),)* self.$n.into_arguments(),)
            }
        }
    };
}

tuple!(; A FromA 0);
tuple!(A FromA 0; B FromB 1);
tuple!(A FromA 0, B FromB 1; C FromC 2);
tuple!(A FromA 0, B FromB 1, C FromC 2; D FromD 3);
tuple!(A FromA 0, B FromB 1, C FromC 2, D FromD 3; E FromE 4);
tuple!(A FromA 0, B FromB 1, C FromC 2, D FromD 3, E FromE 4; F FromF 5);

/// The places of arguments.
pub(crate) fn places(of: &impl Arguments) -> Places {
    let mut places = Places::new();
    of.put(&mut places);
    places
}

/// What a rule is given, made of a tensor per place.
pub(crate) fn given<T: Arguments>(places: Places) -> T::Given {
    T::given(&mut places.into_iter())
}

/// What a rule returned, by place.
pub(crate) fn returned<T: Arguments>(values: T::Returned) -> Places {
    let mut places = Places::new();
    T::returned(values, &mut places);
    places
}

//! Trees of types that are not the user's.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::{Structure, Tree};
use crate::{Result, Tensor};

impl Tree for Tensor {
    type Each<T> = T;

    fn visit_tensors<'a>(&'a self, see: &mut dyn FnMut(&'a Tensor)) {
        see(self);
    }
    fn map_tensors(&self, make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self> {
        make(self)
    }
    fn each_tensor<T>(&self, make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<T> {
        make(self)
    }
    fn structure(&self) -> Structure {
        Structure::tensor()
    }
}

/// Trees of several parts, each named by how it is reached from the tree.
macro_rules! tuples {
    ($($($part:ident $at:tt),*;)*) => {$(
        impl<$($part: Tree),*> Tree for ($($part,)*) {
            type Each<T> = ($($part::Each<T>,)*);

            #[allow(unused_variables)]
            fn visit_tensors<'a>(&'a self, see: &mut dyn FnMut(&'a Tensor)) {
                $(self.$at.visit_tensors(see);)*
            }
            #[allow(unused_variables)]
            fn map_tensors(&self, make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self> {
                Ok(($(self.$at.map_tensors(make)?,)*))
            }
            #[allow(unused_variables)]
            fn each_tensor<T>(&self, make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<Self::Each<T>> {
                Ok(($(self.$at.each_tensor(make)?,)*))
            }
            fn structure(&self) -> Structure {
                Structure::tuple("", [$(self.$at.structure()),*])
            }
        }
    )*};
}

tuples! {
    ;
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}

impl<A: Tree> Tree for Vec<A> {
    type Each<T> = Vec<A::Each<T>>;

    fn visit_tensors<'a>(&'a self, see: &mut dyn FnMut(&'a Tensor)) {
        self.iter().for_each(|part| part.visit_tensors(see));
    }
    fn map_tensors(&self, make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self> {
        self.iter().map(|part| part.map_tensors(make)).collect()
    }
    fn each_tensor<T>(&self, make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<Self::Each<T>> {
        self.iter().map(|part| part.each_tensor(make)).collect()
    }
    fn structure(&self) -> Structure {
        Structure::list(self.iter().map(Tree::structure))
    }
}

/// What `make` gives of each part; the array is complete only if all succeeded.
fn made<P, Q, const N: usize>(parts: &[P; N], make: impl FnMut(&P) -> Result<Q>) -> Result<[Q; N]> {
    let all: Vec<Q> = parts.iter().map(make).collect::<Result<_>>()?;
    Ok(all.try_into().unwrap_or_else(|_| unreachable!("as many as there are parts")))
}

impl<A: Tree, const N: usize> Tree for [A; N] {
    type Each<T> = [A::Each<T>; N];

    fn visit_tensors<'a>(&'a self, see: &mut dyn FnMut(&'a Tensor)) {
        self.iter().for_each(|part| part.visit_tensors(see));
    }
    fn map_tensors(&self, make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self> {
        made(self, |part| part.map_tensors(make))
    }
    fn each_tensor<T>(&self, make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<Self::Each<T>> {
        made(self, |part| part.each_tensor(make))
    }
    fn structure(&self) -> Structure {
        Structure::list(self.iter().map(Tree::structure))
    }
}

impl<A: Tree> Tree for Option<A> {
    type Each<T> = Option<A::Each<T>>;

    fn visit_tensors<'a>(&'a self, see: &mut dyn FnMut(&'a Tensor)) {
        self.iter().for_each(|part| part.visit_tensors(see));
    }
    fn map_tensors(&self, make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self> {
        self.as_ref().map(|part| part.map_tensors(make)).transpose()
    }
    fn each_tensor<T>(&self, make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<Self::Each<T>> {
        self.as_ref().map(|part| part.each_tensor(make)).transpose()
    }
    fn structure(&self) -> Structure {
        Structure::tuple(if self.is_some() { "Some" } else { "None" }, self.iter().map(Tree::structure))
    }
}

impl<A: Tree> Tree for Box<A> {
    type Each<T> = A::Each<T>;

    fn visit_tensors<'a>(&'a self, see: &mut dyn FnMut(&'a Tensor)) {
        (**self).visit_tensors(see);
    }
    fn map_tensors(&self, make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self> {
        (**self).map_tensors(make).map(Box::new)
    }
    fn each_tensor<T>(&self, make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<Self::Each<T>> {
        (**self).each_tensor(make)
    }
    fn structure(&self) -> Structure {
        (**self).structure()
    }
}

impl<A: Tree> Tree for BTreeMap<String, A> {
    type Each<T> = BTreeMap<String, A::Each<T>>;

    fn visit_tensors<'a>(&'a self, see: &mut dyn FnMut(&'a Tensor)) {
        self.values().for_each(|part| part.visit_tensors(see));
    }
    fn map_tensors(&self, make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self> {
        self.iter().map(|(key, part)| Ok((key.clone(), part.map_tensors(make)?))).collect()
    }
    fn each_tensor<T>(&self, make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<Self::Each<T>> {
        self.iter().map(|(key, part)| Ok((key.clone(), part.each_tensor(make)?))).collect()
    }
    fn structure(&self) -> Structure {
        Structure::map(self.iter().map(|(key, part)| (key.clone(), part.structure())))
    }
}

impl<A> Tree for PhantomData<A> {
    type Each<T> = PhantomData<A>;

    fn visit_tensors<'a>(&'a self, _see: &mut dyn FnMut(&'a Tensor)) {}
    fn map_tensors(&self, _make: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<Self> {
        Ok(Self)
    }
    fn each_tensor<T>(&self, _make: &mut dyn FnMut(&Tensor) -> Result<T>) -> Result<Self> {
        Ok(Self)
    }
    fn structure(&self) -> Structure {
        Structure::tuple("", [])
    }
}

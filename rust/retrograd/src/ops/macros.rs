//! What the generated files consist of: `op!` and `options!`.

/// The public functions and methods of an op, each in up to four forms: the one that panics, its `try_` twin, and the
/// two that take options.
///
/// It is given the documentation; the names and parameters of the function (`fn`), the method, the associated function
/// (`made`) and the method that writes to its tensor (`in_place`, with documentation of its own), as far as there are
/// any; what a method does first; the result; the engine's function and its arguments; the options, and the arguments
/// that come of them.
macro_rules! op {
    (
        $docs:tt
        $(fn $function:tt $params:tt)?
        $(method $method:tt $self_params:tt $first:tt)?
        $(made $made:tt $made_params:tt)?
        $(in_place $in_place_docs:tt $in_place:tt $in_place_params:tt $in_place_first:tt {$in_place_path:path})?
        -> $out:ty = $path:path, $args:tt
        $with:tt
    ) => {
        $(emit! { $docs $function $params {} [] $out, $path, $args $with })?
        $(impl crate::Tensor { emit! { $docs $method $self_params $first [] $out, $path, $args $with } })?
        $(impl crate::Tensor { emit! { $docs $made $made_params {} [] $out, $path, $args $with } })?
        $(impl crate::Tensor {
            emit! {
                $in_place_docs $in_place $in_place_params $in_place_first [crate::engine::ops::Form::InPlace,]
                $out, $in_place_path, $args $with
            }
        })?
    };
}

macro_rules! emit {
    (
        {$($docs:tt)*} [$name:ident $try_name:ident] ([$($a:lifetime)?] $($params:tt)*) {$($first:tt)*} [$($lead:tt)*]
        $out:ty, $path:path, ($($arg:expr),* $(,)?) $with:tt
    ) => {
        $($docs)*
        #[track_caller]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn $name$(<$a>)?($($params)*) -> $out {
            crate::site::here();
            $($first)*
            crate::site::done(crate::ops::results::face($path($($lead)* $($arg),*)))
        }

        #[doc = concat!("As `", stringify!($name), "`, with an error returned in place of a panic.")]
        #[track_caller]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn $try_name$(<$a>)?($($params)*) -> crate::Result<$out> {
            crate::site::here();
            $($first)*
            crate::ops::results::face($path($($lead)* $($arg),*))
        }
    };
    (
        {$($docs:tt)*} [$name:ident $try_name:ident $name_with:ident $try_name_with:ident] $params:tt $first:tt $lead:tt
        $out:ty, $path:path, $args:tt $with:tt
    ) => {
        emit! { {$($docs)*} [$name $try_name] $params $first $lead $out, $path, $args $with }
        emit! {
            {#[doc = concat!("As `", stringify!($name), "`, with options.")]}
            [@ $name_with $try_name_with] $params $first $lead $out, $path, $args $with
        }
    };
    (
        {$($docs:tt)*} [@ $name:ident $try_name:ident] ([$($a:lifetime)?] $($params:tt)*) {$($first:tt)*} [$($lead:tt)*]
        $_:ty, $path:path, $args:tt
        {[$($life:lifetime)?] $o:ident: $options:ty => $out:ty = ($($arg:expr),* $(,)?)}
    ) => {
        $($docs)*
        #[track_caller]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn $name<$($a,)? $($life)?>($($params)*, options: impl FnOnce($options) -> $options) -> $out {
            // First, as the closure may call ops too.
            let $o = options(Default::default());
            crate::site::here();
            $($first)*
            crate::site::done(crate::ops::results::face($path($($lead)* $($arg),*)))
        }

        #[doc = concat!("As `", stringify!($name), "`, with an error returned in place of a panic.")]
        #[track_caller]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn $try_name<$($a,)? $($life)?>(
            $($params)*, options: impl FnOnce($options) -> $options
        ) -> crate::Result<$out> {
            // First, as the closure may call ops too.
            let $o = options(Default::default());
            crate::site::here();
            $($first)*
            crate::ops::results::face($path($($lead)* $($arg),*))
        }
    };
}

/// What a closure sets of an op: each option with its type, its default, what its setter takes and makes of that.
macro_rules! options {
    ($($(#[$doc:meta])* $name:ident [$($life:lifetime)?] {
        $($(#[$said:meta])* $field:ident: $t:ty = $default:expr, $given:ty => $value:expr;)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name$(<$life>)? {
            $(pub(in crate::ops) $field: $t,)*
        }

        impl$(<$life>)? Default for $name$(<$life>)? {
            #[inline]
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl$(<$life>)? $name$(<$life>)? {
            $(
                $(#[$said])*
                #[must_use]
                #[inline]
                pub fn $field(mut self, $field: $given) -> Self {
                    self.$field = $value;
                    self
                }
            )*
        }
    )*};
}

//! Trees, and `#[derive(Tree)]` as a program uses it.

mod small_ops;

use std::collections::BTreeMap;
use std::marker::PhantomData;

use retrograd::{Result, Structure, Tensor, Tree};
use small_ops::{all_values, scalar, tensor, values};

#[derive(Tree, Debug)]
struct Linear {
    weight: Tensor,
    bias: Option<Tensor>,
    #[tree(skip)]
    name: String,
}

#[derive(Tree)]
struct Pair(Tensor, #[tree(skip)] usize, Vec<Linear>);

#[derive(Tree, Debug, PartialEq)]
struct Nothing;

#[derive(Tree)]
struct Generic<T, const N: usize, C = ()>
where
    T: Tree,
{
    parts: [T; N],
    #[tree(skip)]
    constant: C,
    inner: Box<T>,
}

#[derive(Tree)]
enum Layer<A> {
    Affine { weight: Tensor, r#type: A },
    Scale(Tensor, #[tree(skip)] f64),
    Identity,
}

/// Fields of names that the derive's own code might use.
#[derive(Tree)]
struct Names {
    all: Tensor,
    make: Tensor,
    see: Tensor,
    t: Tensor,
}

fn linear(weight: f64, bias: Option<f64>) -> Linear {
    Linear { weight: scalar(weight), bias: bias.map(scalar), name: format!("layer {weight}") }
}

fn doubled<T: Tree>(tree: &T) -> T {
    tree.map_tensors(&mut |t| Ok(small_ops::times(t, 2.0))).unwrap()
}

#[test]
fn structs_of_all_kinds() {
    let pair = Pair(scalar(1.0), 7, vec![linear(2.0, Some(3.0)), linear(4.0, None)]);
    assert_eq!(all_values(&pair), [1.0, 2.0, 3.0, 4.0]);
    let twice = doubled(&pair);
    assert_eq!(all_values(&twice), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!((twice.1, twice.2[0].name.as_str()), (7, "layer 2"));
    assert_eq!(
        pair.structure().to_string(),
        "Pair(tensor, [Linear { weight: tensor, bias: Some(tensor) }, Linear { weight: tensor, bias: None }])"
    );
    assert_eq!(pair.structure(), twice.structure());
    assert_ne!(linear(1.0, None).structure(), linear(1.0, Some(1.0)).structure());
    assert_eq!((Nothing.tensors().len(), doubled(&Nothing)), (0, Nothing));
    assert_eq!(Nothing.structure().to_string(), "Nothing");
    let names = Names { all: scalar(1.0), make: scalar(2.0), see: scalar(3.0), t: scalar(4.0) };
    assert_eq!(all_values(&doubled(&names)), [2.0, 4.0, 6.0, 8.0]);
}

#[test]
fn generic_structs() {
    let generic = Generic { parts: [scalar(1.0), scalar(2.0)], constant: "c", inner: Box::new(scalar(3.0)) };
    let twice = doubled(&generic);
    assert_eq!((all_values(&twice), twice.constant), (vec![2.0, 4.0, 6.0], "c"));
    let of_pairs: Generic<(Tensor, ()), 1> =
        Generic { parts: [(scalar(1.0), ())], constant: (), inner: Box::new((scalar(2.0), ())) };
    assert_eq!(of_pairs.structure().to_string(), "Generic { parts: [(tensor, ())], inner: (tensor, ()) }");
}

#[test]
fn enums() {
    let layers = vec![
        Layer::Affine { weight: scalar(1.0), r#type: (scalar(2.0), scalar(3.0)) },
        Layer::Scale(scalar(4.0), 0.5),
        Layer::Identity,
    ];
    let twice = doubled(&layers);
    assert_eq!(all_values(&twice), [2.0, 4.0, 6.0, 8.0]);
    assert!(matches!(twice[1], Layer::Scale(_, 0.5)) && matches!(twice[2], Layer::Identity));
    assert_eq!(
        layers.structure().to_string(),
        "[Layer::Affine { weight: tensor, type: (tensor, tensor) }, Layer::Scale(tensor), Layer::Identity]"
    );
    assert_ne!(layers[0].structure(), layers[2].structure());
}

#[test]
fn what_is_a_tree_by_itself() {
    let map: BTreeMap<String, Tensor> = [("b".into(), scalar(5.0)), ("a".into(), scalar(4.0))].into();
    let tree = (scalar(1.0), [scalar(2.0), scalar(3.0)], map, None::<Tensor>, Box::new(scalar(6.0)), ());
    assert_eq!(all_values(&tree), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(all_values(&doubled(&tree)), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    assert_eq!(
        tree.structure().to_string(),
        "(tensor, [tensor, tensor], {\"a\": tensor, \"b\": tensor}, None, tensor, ())"
    );
    assert_eq!((scalar(1.0),).structure().to_string(), "(tensor,)");
    assert_eq!(PhantomData::<String>.tensors().len(), 0);
    let eight = (scalar(1.0), (), (), (), (), (), (), scalar(8.0));
    assert_eq!(all_values(&doubled(&eight)), [2.0, 16.0]);
    assert_eq!(eight.structure().count(), 2);
    assert!(Structure::tensor().is_tensor());
}

/// `Each` keeps the form of everything but derived structs, of which it is a list.
#[test]
fn something_for_each_tensor() -> Result<()> {
    let tree = (scalar(1.0), vec![scalar(2.0)], linear(3.0, Some(4.0)), Some(scalar(5.0)));
    let (first, list, of_struct, option) = tree.each_tensor(&mut |t| Ok(values(t)[0] as i64))?;
    assert_eq!((first, list, of_struct, option), (1, vec![2], vec![3, 4], Some(5)));
    Ok(())
}

#[test]
fn other_tensors() -> Result<()> {
    let layer = linear(1.0, Some(2.0));
    let other = layer.with_tensors([tensor(&[3.0, 4.0], &[2]), scalar(5.0)])?;
    assert_eq!((all_values(&other), other.name.as_str()), (vec![3.0, 4.0, 5.0], "layer 1"));
    let fewer = layer.with_tensors([scalar(1.0)]).unwrap_err().to_string();
    assert_eq!(
        fewer,
        "Tree::with_tensors: got fewer tensors than the 2 of the structure Linear { weight: tensor, bias: Some(tensor) }"
    );
    let more = layer.with_tensors([scalar(1.0), scalar(1.0), scalar(1.0)]).unwrap_err().to_string();
    assert!(more.contains("got more tensors than the 2"), "{more}");
    let failed = layer.map_tensors(&mut |_| Err(retrograd::Error::value("test", "no")));
    assert!(failed.unwrap_err().to_string().contains("test: no"));
    Ok(())
}

//! The Python of examples: expressions of calls, attributes and literals.

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Number(String),
    Text(String),
    Bool(bool),
    None,
    List(Vec<Expr>),
    Name(String),
    Attribute(Box<Expr>, String),
    /// What is called, its arguments, and those with a name.
    Call(Box<Expr>, Vec<Expr>, Vec<(String, Expr)>),
}

/// The expression that a text is; none for any other Python. Tuples are lists.
pub fn parse(text: &str) -> Option<Expr> {
    let mut rest = tokens(text)?;
    rest.reverse();
    let expr = expression(&mut rest)?;
    rest.is_empty().then_some(expr)
}

fn tokens(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut token = c.to_string();
        match c {
            ' ' => continue,
            '\'' | '"' => {
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        c => token.push(c),
                    }
                }
                token.replace_range(..1, "'");
            }
            _ if c.is_ascii_digit() => {
                while let Some(&next) = chars.peek() {
                    let signed = matches!(next, '-' | '+') && token.ends_with('e');
                    if !(next.is_ascii_alphanumeric() || next == '.' || signed) {
                        break;
                    }
                    token.extend(chars.next());
                }
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                while let Some(next) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    token.push(next);
                }
            }
            '(' | ')' | '[' | ']' | ',' | '.' | '=' | '-' => {}
            _ => return None,
        }
        out.push(token);
    }
    Some(out)
}

/// The tokens that are left are in reverse.
fn expression(rest: &mut Vec<String>) -> Option<Expr> {
    let token = rest.pop()?;
    let first = token.chars().next()?;
    let mut expr = match token.as_str() {
        "True" | "False" => Expr::Bool(token == "True"),
        "None" => Expr::None,
        "-" => match expression(rest)? {
            Expr::Number(n) => Expr::Number(format!("-{n}")),
            _ => return None,
        },
        "[" => Expr::List(arguments(rest, "]")?.0),
        "(" => Expr::List(arguments(rest, ")")?.0),
        _ if first.is_ascii_digit() && token.parse::<f64>().is_ok() => Expr::Number(token),
        _ if first == '\'' => Expr::Text(token[1..].to_string()),
        _ if first.is_ascii_alphabetic() || first == '_' => Expr::Name(token),
        _ => return None,
    };
    loop {
        match rest.last().map(String::as_str) {
            Some(".") => {
                rest.pop();
                expr = Expr::Attribute(Box::new(expr), rest.pop()?);
            }
            Some("(") => {
                rest.pop();
                let (given, named) = arguments(rest, ")")?;
                expr = Expr::Call(Box::new(expr), given, named);
            }
            _ => return Some(expr),
        }
    }
}

type Arguments = (Vec<Expr>, Vec<(String, Expr)>);

fn arguments(rest: &mut Vec<String>, end: &str) -> Option<Arguments> {
    let (mut given, mut named) = (Vec::new(), Vec::new());
    loop {
        if rest.last()? == end {
            rest.pop();
            return Some((given, named));
        }
        if rest.len() > 1 && rest[rest.len() - 2] == "=" {
            let name = rest.pop()?;
            rest.pop();
            named.push((name, expression(rest)?));
        } else {
            given.push(expression(rest)?);
        }
        match rest.last()?.as_str() {
            "," => drop(rest.pop()),
            token if token == end => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_literals() {
        let number = |n: &str| Expr::Number(n.into());
        let rg = || Box::new(Expr::Name("rg".into()));
        let f = Box::new(Expr::Attribute(rg(), "f".into()));
        let named = vec![("dim".to_string(), number("-1")), ("mode".to_string(), Expr::Text("a".into()))];
        let call = Expr::Call(f, vec![Expr::List(vec![number("1.5"), number("2e-05")])], named);
        assert_eq!(parse("rg.f([1.5, 2e-05], dim=-1, mode='a')"), Some(call));
        assert_eq!(parse("(1,)"), Some(Expr::List(vec![number("1")])));
        for other in ["[x for x in y]", "x[0]", "1j", "a b", "f(", "'a", "x = 1", "a + b"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}

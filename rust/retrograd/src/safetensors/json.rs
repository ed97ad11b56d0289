//! JSON as headers have it, read without what it is silent about: keys that occur twice, and nesting without end.

use std::collections::HashSet;

/// A value of JSON. Numbers that are no `i64` are only known to be numbers.
#[derive(Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Number,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Nesting: headers need eight levels.
const DEPTH: usize = 128;
/// Values of a text, each of which takes up to 40 bytes while a text says it in two.
const VALUES: usize = 1 << 22;

type Result<T> = std::result::Result<T, String>;

impl Json {
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn list(&self) -> Option<&[Json]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// The value of a key in an object.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A number that is not negative.
    pub(super) fn size(&self) -> Option<usize> {
        if let Self::Int(n) = self { usize::try_from(*n).ok() } else { None }
    }

    /// A list of numbers that are not negative.
    pub(super) fn sizes(&self) -> Option<Vec<usize>> {
        self.list()?.iter().map(Json::size).collect()
    }
}

pub(super) fn parse(text: &str) -> Result<Json> {
    let mut parser = Parser { text, at: 0, values: 0 };
    let value = parser.value(0)?;
    parser.space();
    if parser.at < text.len() { Err(parser.unexpected()) } else { Ok(value) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    values: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some(c) => format!("{c:?} at byte {} of its JSON", self.at),
            None => "its JSON ends early".into(),
        }
    }

    /// Whether the text goes on so, which is then behind.
    fn takes(&mut self, token: &str) -> bool {
        let goes_on = self.text[self.at..].starts_with(token);
        self.at += if goes_on { token.len() } else { 0 };
        goes_on
    }

    fn demand(&mut self, token: &str) -> Result<()> {
        if self.takes(token) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        self.values += 1;
        if depth > DEPTH {
            return Err("its JSON is nested too deeply".into());
        }
        if self.values > VALUES {
            return Err(format!("its JSON has more than {VALUES} values"));
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.items(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.takes("null") => Ok(Json::Null),
            _ if self.takes("true") => Ok(Json::Bool(true)),
            _ if self.takes("false") => Ok(Json::Bool(false)),
            _ => Err(self.unexpected()),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        self.demand("{")?;
        let mut members: Vec<(String, Json)> = Vec::new();
        self.space();
        if !self.takes("}") {
            loop {
                self.space();
                let key = self.string()?;
                self.space();
                self.demand(":")?;
                members.push((key, self.value(depth + 1)?));
                self.space();
                if self.takes("}") {
                    break;
                }
                self.demand(",")?;
            }
        }
        let mut keys = HashSet::new();
        if let Some((key, _)) = members.iter().find(|(key, _)| !keys.insert(key.as_str())) {
            return Err(format!("the key {key:?} occurs twice"));
        }
        Ok(Json::Object(members))
    }

    fn items(&mut self, depth: usize) -> Result<Json> {
        self.demand("[")?;
        let mut items = Vec::new();
        self.space();
        if self.takes("]") {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.takes("]") {
                return Ok(Json::List(items));
            }
            self.demand(",")?;
        }
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected()) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Json> {
        let start = self.at;
        self.takes("-");
        if !self.takes("0") {
            self.digits()?;
        }
        let end = self.at;
        if self.takes(".") {
            self.digits()?;
        }
        if self.takes("e") || self.takes("E") {
            let _ = self.takes("+") || self.takes("-");
            self.digits()?;
        }
        if self.at > end {
            return Ok(Json::Number);
        }
        Ok(self.text[start..end].parse().map_or(Json::Number, Json::Int))
    }

    fn string(&mut self) -> Result<String> {
        self.demand("\"")?;
        let mut made = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c| c == '"' || c == '\\' || c < ' ').ok_or("its JSON ends early")?;
            made.push_str(&rest[..plain]);
            self.at += plain;
            if self.takes("\"") {
                return Ok(made);
            }
            if !self.takes("\\") {
                return Err(self.unexpected());
            }
            made.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char> {
        for (token, c) in [
            ("\"", '"'),
            ("\\", '\\'),
            ("/", '/'),
            ("b", '\u{8}'),
            ("f", '\u{c}'),
            ("n", '\n'),
            ("r", '\r'),
            ("t", '\t'),
        ] {
            if self.takes(token) {
                return Ok(c);
            }
        }
        self.demand("u")?;
        let first = self.hex()?;
        let code = match first {
            0xd800..0xdc00 if self.takes("\\u") => match self.hex()? {
                second @ 0xdc00..0xe000 => 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                _ => first,
            },
            _ => first,
        };
        char::from_u32(code).ok_or_else(|| "a string of its JSON is no Unicode".into())
    }

    fn hex(&mut self) -> Result<u32> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).ok_or_else(|| self.unexpected())?;
        self.at += 4;
        Ok(code)
    }
}

/// Appends a string as JSON has it, in ASCII.
pub(super) fn quote(text: &str, to: &mut String) {
    use std::fmt::Write;
    to.push('"');
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            ' '..='~' => to.push(c),
            _ => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(to, "\\u{unit:04x}");
            }),
        }
    }
    to.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let text = " { \"a\" : [1, -20, 0, 1.5, 2e9, 99999999999999999999, true, false, null, []], \"b\":{} } ";
        let Json::Object(members) = parse(text).unwrap() else { panic!() };
        let numbers = [Json::Int(1), Json::Int(-20), Json::Int(0), Json::Number, Json::Number, Json::Number];
        let rest = [Json::Bool(true), Json::Bool(false), Json::Null, Json::List(Vec::new())];
        assert_eq!(members[0], ("a".into(), Json::List(numbers.into_iter().chain(rest).collect())));
        assert_eq!(members[1], ("b".into(), Json::Object(Vec::new())));
    }

    #[test]
    fn strings_come_back() {
        for text in ["", "a\"\\/b", "\n\t\u{0}\u{7f}", "Zähler", "\u{1F600} x"] {
            let mut quoted = String::new();
            quote(text, &mut quoted);
            assert!(quoted.is_ascii());
            assert_eq!(parse(&quoted).unwrap(), Json::Text(text.into()));
        }
        assert_eq!(parse(r#""\u00e4\/\b\f\n\r\t""#).unwrap(), Json::Text("ä/\u{8}\u{c}\n\r\t".into()));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "{",
            "[1,",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "1e",
            "-",
            "+1",
            "NaN",
            "Infinity",
            "tru",
            "\"a",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12ä\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
            "[] []",
            "{\"a\":1,\"a\":2}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().contains("nested too deeply"));
        assert!(parse(&format!("[{}1]", "1,".repeat(VALUES))).unwrap_err().contains("values"));
    }
}

//! From text to words.

use super::{Message, convert::narrow};

/// A word of a batch, and the line it is on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) line: u32,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word(String),
    /// A name in brackets or double quotes, which is no keyword.
    Quoted(String),
    /// `@name`, or `@@name`.
    Variable(String),
    Integer(i64),
    Float(f64),
    Text {
        units: Vec<u16>,
        wide: bool,
    },
    Binary(Vec<u8>),
    Symbol(&'static str),
    End,
}

impl Kind {
    /// As an error message quotes it.
    pub(crate) fn written(&self) -> String {
        match self {
            Self::Word(word) | Self::Quoted(word) | Self::Variable(word) => word.clone(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text { units, .. } => String::from_utf16_lossy(units),
            Self::Binary(_) => "0x".into(),
            Self::Symbol(symbol) => (*symbol).into(),
            Self::End => String::new(),
        }
    }
}

/// The longest first: what is a part of another comes later.
const SYMBOLS: [&str; 27] = [
    "<>", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "::", "(", ")", ",", ";", ".", "=", "<", ">",
    "+", "-", "*", "/", "%", "&", "|", "^", "~", ":",
];

pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Message> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer {
        chars: &chars,
        at: 0,
        line: 1,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank()?;
        let line = lexer.line;
        let kind = lexer.next().map_err(|message| message.at(line))?;
        let end = kind == Kind::End;
        tokens.push(Token { line, kind });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    line: u32,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn bump(&mut self) -> char {
        let char = self.peek(0);
        self.at += 1;
        self.line += u32::from(char == '\n');
        char
    }

    const fn ended(&self) -> bool {
        self.at >= self.chars.len()
    }

    fn skip_blank(&mut self) -> Result<(), Message> {
        while !self.ended() {
            match (self.peek(0), self.peek(1)) {
                ('-', '-') => {
                    while !self.ended() && self.peek(0) != '\n' {
                        self.bump();
                    }
                }
                ('/', '*') => self.skip_comment()?,
                (char, _) if char.is_whitespace() => {
                    self.bump();
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Comments of this kind may be in one another.
    fn skip_comment(&mut self) -> Result<(), Message> {
        let line = self.line;
        let mut depth = 0;
        while !self.ended() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    self.bump();
                    continue;
                }
            }
            self.bump();
            self.bump();
            if depth == 0 {
                return Ok(());
            }
        }
        let text = "Missing end comment mark '*/'.";
        Err(Message::new(113, 15, 1, text).at(line))
    }

    fn next(&mut self) -> Result<Kind, Message> {
        let char = self.peek(0);
        match char {
            _ if self.ended() => Ok(Kind::End),
            'N' | 'n' if self.peek(1) == '\'' => {
                self.bump();
                self.text(true)
            }
            '\'' => self.text(false),
            '[' => self.quoted(']'),
            '"' => self.quoted('"'),
            '@' => Ok(Kind::Variable(self.word())),
            '0' if matches!(self.peek(1), 'x' | 'X') => self.binary(),
            '0'..='9' => self.number(),
            '.' if self.peek(1).is_ascii_digit() => self.number(),
            _ if is_name_start(char) => Ok(Kind::Word(self.word())),
            _ => self.symbol(),
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while is_name_part(self.peek(0)) {
            word.push(self.bump());
        }
        word
    }

    /// What is between two marks, of which two are one.
    fn between(&mut self, mark: char) -> Option<String> {
        self.bump();
        let mut text = String::new();
        loop {
            if self.ended() {
                return None;
            }
            let char = self.bump();
            if char != mark {
                text.push(char);
            } else if self.peek(0) == mark {
                text.push(self.bump());
            } else {
                return Some(text);
            }
        }
    }

    fn text(&mut self, wide: bool) -> Result<Kind, Message> {
        let line = self.line;
        let start = self.at;
        let Some(text) = self.between('\'') else {
            let rest: String = self.chars[start + 1..].iter().collect();
            let text = format!("Unclosed quotation mark after the character string '{rest}'.");
            return Err(Message::new(105, 15, 1, text).at(line));
        };
        let units: Vec<u16> = text.encode_utf16().collect();
        let units = if wide { units } else { narrow(&units) };
        Ok(Kind::Text { units, wide })
    }

    fn quoted(&mut self, mark: char) -> Result<Kind, Message> {
        let name = self.between(mark);
        let name = name.filter(|name| (1..=128).contains(&name.encode_utf16().count()));
        name.map(Kind::Quoted).ok_or_else(|| {
            let text = "An object or column name is missing, empty or too long.";
            Message::new(1038, 15, 4, text)
        })
    }

    fn number(&mut self) -> Result<Kind, Message> {
        let mut digits = String::new();
        while self.peek(0).is_ascii_digit() || self.peek(0) == '.' {
            digits.push(self.bump());
        }
        if matches!(self.peek(0), 'e' | 'E') {
            digits.push(self.bump());
            if matches!(self.peek(0), '+' | '-') {
                digits.push(self.bump());
            }
            while self.peek(0).is_ascii_digit() {
                digits.push(self.bump());
            }
        }
        let number = digits.parse().map(Kind::Integer).ok();
        let number = number.or_else(|| digits.parse().map(Kind::Float).ok());
        number.ok_or_else(|| Message::syntax(&digits))
    }

    fn binary(&mut self) -> Result<Kind, Message> {
        self.bump();
        self.bump();
        let mut digits = String::new();
        while self.peek(0).is_ascii_hexdigit() {
            digits.push(self.bump());
        }
        if !digits.len().is_multiple_of(2) {
            digits.insert(0, '0');
        }
        let pairs = digits.as_bytes().as_chunks::<2>().0.iter();
        let bytes = pairs.map(|pair| {
            let pair = std::str::from_utf8(pair).unwrap_or_default();
            u8::from_str_radix(pair, 16).map_err(|_| Message::syntax(pair))
        });
        Ok(Kind::Binary(bytes.collect::<Result<_, _>>()?))
    }

    fn symbol(&mut self) -> Result<Kind, Message> {
        let rest: String = self.chars[self.at..].iter().take(2).collect();
        let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
        let symbol =
            symbol.ok_or_else(|| Message::syntax(&rest.chars().take(1).collect::<String>()))?;
        self.at += symbol.len();
        Ok(Kind::Symbol(symbol))
    }
}

fn is_name_start(char: char) -> bool {
    char.is_alphabetic() || matches!(char, '_' | '#')
}

fn is_name_part(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '#' | '@' | '$')
}

//! The secret that both machines share, and the codes made with it.

use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;
/// Bits that a key has at least.
const MIN_BITS: usize = 128;
/// Bits of the longest key.
const MAX_BITS: usize = 8 * BLOCK;

/// A secret of 128 to 512 bits, as hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

/// Text that is no key. The text itself is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no key: expected {MIN_BITS} to {MAX_BITS} bits as hexadecimal digits, two for each byte")]
pub struct KeyError;

impl Key {
    /// A key of random bytes.
    #[must_use]
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(bytes.to_vec())
    }

    /// The digits, which only the other machine may learn.
    #[must_use]
    pub fn digits(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The key of one session, from random bytes of both sides.
    #[must_use]
    pub fn of_session(&self, client: &[u8; 16], server: &[u8; 16]) -> Self {
        Self(self.code(&[b"goodqueue.measure/1 session", client, server]).to_vec())
    }

    /// HMAC-SHA-256 (RFC 2104) of these bytes.
    #[must_use]
    pub fn code(&self, parts: &[&[u8]]) -> [u8; 32] {
        let pad = |with: u8| {
            let mut block = [with; BLOCK];
            block.iter_mut().zip(&self.0).for_each(|(pad, byte)| *pad ^= byte);
            block
        };
        let inner = parts.iter().fold(Sha256::new_with_prefix(pad(0x36)), |hash, part| hash.chain_update(part));
        Sha256::new_with_prefix(pad(0x5c)).chain_update(inner.finalize()).finalize().into()
    }

    /// True if `given` is the beginning of the code of these bytes. Takes the same time whatever is
    /// wrong with it.
    #[must_use]
    pub fn confirms(&self, parts: &[&[u8]], given: &[u8]) -> bool {
        let code = self.code(parts);
        let difference = code.iter().zip(given).fold(0, |difference, (a, b)| std::hint::black_box(difference | (a ^ b)));
        !given.is_empty() && given.len() <= code.len() && difference == 0
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let digits: Option<Vec<u32>> = text.trim().chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() % 2 == 0 && (MIN_BITS..=MAX_BITS).contains(&(4 * digits.len())));
        let digits = digits.ok_or(KeyError)?;
        Ok(Self(digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 1 and 2; keys longer than a block are refused here.
    #[test]
    fn codes_are_those_of_the_rfc() {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let first = Key(vec![0x0b; 20]).code(&[b"Hi ", b"There"]);
        assert_eq!(hex(&first), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        let second = Key(b"Jefe".to_vec()).code(&[b"what do ya want for nothing?"]);
        assert_eq!(hex(&second), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn keys_are_read_or_refused_without_repeating_them() {
        let key = Key::from_random([0xa5; 32]);
        assert_eq!(key.digits().parse::<Key>(), Ok(key.clone()));
        assert_eq!("00112233445566778899AABBCCDDEEFF\n".parse::<Key>().unwrap().digits(), "00112233445566778899aabbccddeeff");
        for wrong in ["", "secret", "00112233445566778899aabbccddee", "00112233445566778899aabbccddeeff0", &"0".repeat(130)] {
            assert_eq!(wrong.parse::<Key>(), Err(KeyError), "{wrong}");
        }
        assert!(!KeyError.to_string().contains("secret"));
        assert_eq!(format!("{key:?}"), "Key(…)");
    }

    #[test]
    fn a_code_is_confirmed_as_a_whole() {
        let key = Key::from_random([1; 32]);
        let code = key.code(&[b"a"]);
        assert!(key.confirms(&[b"a"], &code) && key.confirms(&[b"a"], &code[..16]));
        let mut wrong = code;
        wrong[31] ^= 1;
        let other = Key::from_random([2; 32]);
        assert!(!key.confirms(&[b"a"], &wrong) && !key.confirms(&[b"b"], &code) && !other.confirms(&[b"a"], &code));
        assert!(!key.confirms(&[b"a"], &[]));
    }
}

//! TLS keys made on the spot.
//!
//! Keys are random, their lengths are not (Ed25519): runs with equal seeds send packets of equal
//! sizes at equal times.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Server and client that trust each other, without resumption: each connection is the first.
pub struct Keys {
    pub server: Arc<rustls::ServerConfig>,
    pub client: Arc<rustls::ClientConfig>,
    /// The certificate in DER, for stacks with a TLS of their own.
    pub certificate: Vec<u8>,
    /// Key of the certificate as PKCS #8 in DER.
    pub key: Vec<u8>,
}

impl Keys {
    /// Makes keys.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519)?;
        let certificate = rcgen::CertificateParams::new(vec!["server".to_owned()])?.self_signed(&key)?;
        Self::of(certificate.der().to_vec(), key.serialize_der())
    }

    /// Builds the configurations from a certificate and its key.
    fn of(certificate: Vec<u8>, key: Vec<u8>) -> Result<Self, Box<dyn Error>> {
        let der = rustls::pki_types::CertificateDer::from(certificate.clone());
        let pair = rustls::pki_types::PrivateKeyDer::try_from(key.clone())?;
        let mut roots = rustls::RootCertStore::empty();
        roots.add(der.clone())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut server = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![der], pair)?;
        let mut client = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        server.send_tls13_tickets = 0;
        client.resumption = rustls::client::Resumption::disabled();
        server.alpn_protocols = vec![b"test".to_vec()];
        client.alpn_protocols = vec![b"test".to_vec()];
        Ok(Self { server: Arc::new(server), client: Arc::new(client), certificate, key })
    }

    /// The key alone, as BoringSSL takes it: PKCS #8 of version 1, where others add the public key.
    pub fn plain_key(&self) -> Option<Vec<u8>> {
        /// Lengths, version, the name of Ed25519, and the head of 32 bytes.
        const HEAD: [u8; 16] = [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20];
        let seed = self.key.get(16..48).filter(|_| self.key[5..16] == HEAD[5..])?;
        Some([&HEAD[..], seed].concat())
    }

    /// Writes them to a file, for the other process.
    pub fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let text = serde_json::to_vec(&(&self.certificate, &self.key))?;
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// Reads what another process has written.
    pub fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let (certificate, key) = serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::of(certificate, key)
    }
}

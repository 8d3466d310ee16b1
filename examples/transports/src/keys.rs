//! TLS keys made on the spot.
//!
//! Keys are random, their lengths are not (Ed25519): runs with equal seeds send packets of equal
//! sizes at equal times.

use std::error::Error;
use std::sync::Arc;

/// Server and client that trust each other, without resumption: each connection is the first.
pub struct Keys {
    pub server: Arc<rustls::ServerConfig>,
    pub client: Arc<rustls::ClientConfig>,
}

impl Keys {
    /// Makes keys.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519)?;
        let certificate = rcgen::CertificateParams::new(vec!["server".to_owned()])?.self_signed(&key)?;
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.der().clone())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der())?;
        let mut server = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        let mut client = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        server.send_tls13_tickets = 0;
        client.resumption = rustls::client::Resumption::disabled();
        server.alpn_protocols = vec![b"test".to_vec()];
        client.alpn_protocols = vec![b"test".to_vec()];
        Ok(Self { server: Arc::new(server), client: Arc::new(client) })
    }
}

//! Encrypted connections: what the server must show, by `sslmode`, as libpq has it.
//!
//! Promises:   `verify-ca` checks that a root signed the server's certificate, `verify-full` also that it is for the host; `require` is
//!             `verify-ca` where a root is known, and `prefer` too where one was named. Whoever holds the connection also holds the
//!             key of its certificate, in every mode
//! Departs:    certificates must be of version 3, and name the host as a subject alternative name, not as the common name alone
//! Checked by: `tests/it/encrypted.rs`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use disjoin::Result;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::url::Wanted;

/// What a connection must be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// Who may have signed the server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    None,
    System,
    File(PathBuf),
}

/// How the server and the client show who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checks {
    pub(crate) mode: Mode,
    pub(crate) roots: Roots,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

/// What connects, and tells whether it was encrypted.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) tls: MakeRustlsConnect,
    is_used: Arc<AtomicBool>,
}

impl Connector {
    /// Whether a server has shown its certificate.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }
}

/// What connects as it is asked for.
pub(crate) fn connector(wanted: &Wanted, checks: &Checks) -> Result<Connector> {
    let provider = Arc::new(ring::default_provider());
    let is_used = Arc::new(AtomicBool::new(false));
    let must_verify = matches!(checks.mode, Mode::VerifyCa | Mode::VerifyFull);
    let roots = match &checks.roots {
        _ if checks.mode == Mode::Disable => None,
        Roots::None if must_verify => {
            let hint = "name the file of the root certificate with sslrootcert=FILE, or write sslrootcert=system for those of this machine";
            return Err(wanted
                .error("no root certificate is known that could have signed the server's")
                .with_hint(hint));
        }
        Roots::None => None,
        // Some systems have certificates that cannot be read; one that is missing makes nothing less safe.
        Roots::System => Some(rustls_native_certs::load_native_certs().certs),
        Roots::File(file) => Some(certificates(wanted, file)?),
    };
    let trusted = roots.map(Trusted::new);
    if trusted.as_ref().is_some_and(|trusted| trusted.store.is_empty()) {
        return Err(wanted.error("there is no root certificate where sslrootcert says"));
    }
    let verifier = Verifier {
        trusted,
        names_host: checks.mode == Mode::VerifyFull,
        provider: provider.clone(),
        is_used: is_used.clone(),
    };
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let failed = |_| wanted.error("the client certificate and its key do not fit");
    let builder = builder.map_err(|_| wanted.error("TLS is not available"))?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let config = match (&checks.certificate, &checks.key) {
        (Some(certificate), Some(key)) if checks.mode != Mode::Disable => builder
            .with_client_auth_cert(certificates(wanted, certificate)?, private_key(wanted, key)?)
            .map_err(failed)?,
        _ => builder.with_no_client_auth(),
    };
    Ok(Connector { tls: MakeRustlsConnect::new(config), is_used })
}

fn certificates(wanted: &Wanted, file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(wanted.error(format!("{} has no certificate that can be read, in PEM format", file.display()))),
    }
}

fn private_key(wanted: &Wanted, file: &Path) -> Result<PrivateKeyDer<'static>> {
    #[cfg(unix)]
    if let Ok(metadata) = file.metadata() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let open = if metadata.uid() == 0 { 0o037 } else { 0o077 };
        if metadata.permissions().mode() & open != 0 {
            let hint = "protect it with chmod 600";
            return Err(wanted.error(format!("others may read the private key {}", file.display())).with_hint(hint));
        }
    }
    PrivateKeyDer::from_pem_file(file).map_err(|_| {
        let hint = "a key with a password is not supported";
        wanted.error(format!("{} is no private key in PEM format", file.display())).with_hint(hint)
    })
}

/// Root certificates.
#[derive(Debug)]
struct Trusted {
    store: RootCertStore,
    certificates: Vec<CertificateDer<'static>>,
}

impl Trusted {
    fn new(certificates: Vec<CertificateDer<'static>>) -> Self {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(certificates.clone());
        Trusted { store, certificates }
    }

    /// Whether one of them is the server's own. Most certificates that servers signed themselves may sign others, too; that is the
    /// only thing that must be wrong with it, and it is looked for when the dates have been found to be right.
    fn has(&self, certificate: &CertificateDer<'_>, error: &rustls::Error) -> bool {
        let is_of_root = matches!(error, rustls::Error::InvalidCertificate(CertificateError::Other(other)) if other.to_string() == "CaUsedAsEndEntity");
        is_of_root && self.certificates.iter().any(|root| root == certificate)
    }
}

/// Checks what was asked for, and no more.
#[derive(Debug)]
struct Verifier {
    /// None if anybody may have signed.
    trusted: Option<Trusted>,
    names_host: bool,
    provider: Arc<CryptoProvider>,
    is_used: Arc<AtomicBool>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        self.is_used.store(true, Ordering::Relaxed);
        if let Some(trusted) = &self.trusted {
            let (certificate, store) = (ParsedCertificate::try_from(end_entity)?, &trusted.store);
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, store, intermediates, now, algorithms)
                .or_else(|error| if trusted.has(end_entity, &error) { Ok(()) } else { Err(error) })?;
            if self.names_host {
                verify_server_name(&certificate, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/**
 * A certificate for 127.0.0.1 that vouches for itself, valid for a hundred years, and its key: for tests of encrypted connections.
 *
 * Invariants: it protects nothing; nobody but a test that names it as its authority trusts it.
 */
export const loopbackKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqhqyrF+hP/9otIkm
hXQm4Lm4qewoSoFbr4meLA/UFcShRANCAASKSHF03GhsYvB4x8b76LO1tft9/kP5
jA3LU4glI3iPLGAnO7bHycuRXyWuXPWkNYH3zuf/cDwyQxyjo3noig1M
-----END PRIVATE KEY-----
`;

export const loopbackCertificate = `-----BEGIN CERTIFICATE-----
MIIBjjCCATSgAwIBAgIUQ8Yl2XMOGquhh1j13Eel2Nb8dckwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIbG9vcGJhY2swIBcNMjYxMTIxMDYxMjUwWhgPMjEyNjEwMjgw
NjEyNTBaMBMxETAPBgNVBAMMCGxvb3BiYWNrMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEikhxdNxobGLweMfG++iztbX7ff5D+YwNy1OIJSN4jyxgJzu2x8nLkV8l
rlz1pDWB987n/3A8MkMco6N56IoNTKNkMGIwHQYDVR0OBBYEFFQkbIIwmFjrr4Qx
AV0CRC257dfCMB8GA1UdIwQYMBaAFFQkbIIwmFjrr4QxAV0CRC257dfCMA8GA1Ud
EwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAKBggqhkjOPQQDAgNIADBFAiEA
6wIvQ8qNTdKueMadrs5/Nb7FCoOcCcps+ZEfw1fE40MCIF6VJiArVBHEDlSGgku2
WeqKpgiSvuD/JrE0mAV4vYJE
-----END CERTIFICATE-----
`;

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const tenYears = 10 * 365 * 24 * time.Hour

// A request for one pair of files, NAME.crt and NAME.key. Without an issuer the certificate is an authority's, signed by itself.
type certificateRequest struct {
	Name          string   `json:"name"`
	Issuer        string   `json:"issuer"`
	CommonName    string   `json:"commonName"`
	Organizations []string `json:"organizations"`
	// Hosts, as names or addresses, make it a server's certificate too.
	Hosts []string `json:"hosts"`
}

type certificateRequests struct {
	Certificates []certificateRequest `json:"certificates"`
	// SigningKeys are RSA pairs NAME.key and NAME.pub, for service account tokens.
	SigningKeys []string `json:"signingKeys"`
}

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func certify(folder string) error {
	var requests certificateRequests
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		return err
	}
	authorities := map[string]authority{}
	for _, request := range requests.Certificates {
		if err := issue(folder, request, authorities); err != nil {
			return fmt.Errorf("%s: %w", request.Name, err)
		}
	}
	for _, name := range requests.SigningKeys {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return err
		}
		if err := writeKeyPair(folder, name, key); err != nil {
			return err
		}
	}
	return nil
}

func issue(folder string, request certificateRequest, authorities map[string]authority) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template, err := templateOf(request)
	if err != nil {
		return err
	}
	issuer := authority{template, key}
	if request.Issuer != "" {
		known := false
		if issuer, known = authorities[request.Issuer]; !known {
			return fmt.Errorf("its issuer %s must come before it", request.Issuer)
		}
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, issuer.certificate, key.Public(), issuer.key)
	if err != nil {
		return err
	}
	if request.Issuer == "" {
		authorities[request.Name] = issuer
	}
	if err := write(folder, request.Name+".crt", "CERTIFICATE", encoded, 0o644); err != nil {
		return err
	}
	return writePrivateKey(folder, request.Name, key)
}

func templateOf(request certificateRequest) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: request.CommonName, Organization: request.Organizations},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(tenYears),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
	if request.Issuer == "" {
		template.IsCA = true
		template.KeyUsage |= x509.KeyUsageCertSign
		template.ExtKeyUsage = nil
	}
	for _, host := range request.Hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if len(request.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	return template, nil
}

func writeKeyPair(folder, name string, key *rsa.PrivateKey) error {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := write(folder, name+".pub", "PUBLIC KEY", public, 0o644); err != nil {
		return err
	}
	return writePrivateKey(folder, name, key)
}

func writePrivateKey(folder, name string, key crypto.PrivateKey) error {
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return write(folder, name+".key", "PRIVATE KEY", encoded, 0o600)
}

func write(folder, name, kind string, content []byte, mode os.FileMode) error {
	return os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), mode)
}

#!/usr/bin/env bash
# Makes certificates for tests in a folder: NAME.pem, which holds the certificate and its key.
#
# Usage: certificates.sh FOLDER
# ca.pem has signed all but `unknown`; crl.pem revokes `revoked`. `expired`, `early`, `other` (for
# another host) and `weak` say what is wrong with them; `example` is for *.example.org.
set -euo pipefail
if [[ $# != 1 || $1 == -h || $1 == --help ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit
fi
mkdir -p "$1"
cd "$1"
exec 2>openssl.log
: >index.txt
echo 1000 >serial
echo 1000 >crlnumber
cat >ca.cnf <<'CNF'
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
crlnumber = crlnumber
new_certs_dir = .
certificate = ca.pem
private_key = ca.pem
default_md = sha256
default_days = 30
default_crl_days = 30
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
CNF

# sign NAME [OPTIONS OF openssl ca]: NAME.pem, with the key behind the certificate.
sign() {
  openssl ca -config ca.cnf -batch -notext -in "$1.csr" -out "$1.crt" "${@:2}" >/dev/null
  cat "$1.crt" "$1.key" >"$1.pem"
}

here="DNS:localhost,IP:127.0.0.1"
ec=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
for root in ca unknown; do
  openssl req -x509 "${ec[@]}" -days 30 -subj "/CN=$root" -addext "subjectAltName=$here" \
    -keyout $root.key -out $root.crt
  cat $root.crt $root.key >$root.pem
done
while read -r name names options; do
  openssl req -new "${ec[@]}" -subj "/CN=$name" -addext "subjectAltName=$names" \
    -keyout "$name.key" -out "$name.csr"
  read -ra words <<<"$options"
  sign "$name" "${words[@]}"
done <<LIST
server $here
client DNS:client
example DNS:*.example.org
other DNS:elsewhere.example
revoked $here
expired $here -startdate 20200101000000Z -enddate 20210101000000Z
early $here -startdate 20900101000000Z -enddate 20910101000000Z
LIST
openssl req -new -newkey rsa:1024 -nodes -subj /CN=weak -addext "subjectAltName=$here" \
  -keyout weak.key -out weak.csr
sign weak
openssl ca -config ca.cnf -revoke revoked.crt
openssl ca -config ca.cnf -gencrl -out crl.pem

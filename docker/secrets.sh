#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes what the services of docker/compose.yaml must not share with anyone else, by openssl alone:
#
#   docker/secrets.sh [FOLDER]       FOLDER is docker/secrets if not told, which git does not take
#
#   ca.pem                    clients: the authority that has signed server.pem; its key is thrown away
#   server.pem, server.key    server: its certificate, for the names `server` and `localhost`
#   token                     clients: may read, and look at streams
#   plait.toml                server: its settings, with the token's hash and the word below
#   spark.conf                master and workers: the word by which the processes of Spark know each other;
#                             nor is there a REST server, which would start programs without asking for it
#
# A folder that is there is left as it is: remove it to make all of them anew. Certificates last 825
# days. The folder is its owner's alone; the files in it are for all to read, since the user of a
# container is nobody here.

set -eu
folder=${1:-$(dirname "$0")/secrets}
[ ! -e "$folder" ] || { echo "plait: $folder is there already" >&2 && exit 0; }
command -v openssl >/dev/null || { echo "plait: openssl is missing: install it." >&2 && exit 1; }

umask 077
mkdir -p "$(dirname "$folder")"
made=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$made"' EXIT

# Makes $1.key, and $1.csr, which asks for a certificate for it by the name $1.
key_and_request() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$made/$1.key"
  openssl req -new -key "$made/$1.key" -subj "/CN=$1" -out "$made/$1.csr"
}

key_and_request ca
printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n' >"$made/ca.ext"
openssl x509 -req -in "$made/ca.csr" -signkey "$made/ca.key" -days 825 -sha256 \
  -extfile "$made/ca.ext" -out "$made/ca.pem" 2>/dev/null

key_and_request server
cat >"$made/server.ext" <<EXTENSIONS
basicConstraints=critical,CA:FALSE
extendedKeyUsage=serverAuth
subjectAltName=DNS:server,DNS:localhost,IP:127.0.0.1
EXTENSIONS
openssl x509 -req -in "$made/server.csr" -CA "$made/ca.pem" -CAkey "$made/ca.key" \
  -set_serial "0x$(openssl rand -hex 16)" -days 825 -sha256 \
  -extfile "$made/server.ext" -out "$made/server.pem" 2>/dev/null
rm "$made"/ca.key "$made"/*.csr "$made"/*.ext

token=plait_$(openssl rand -hex 32)
word=$(openssl rand -hex 32)
printf '%s' "$token" >"$made/token"
cat >"$made/spark.conf" <<SETTINGS
spark.authenticate true
spark.authenticate.secret $word
spark.network.crypto.enabled true
spark.master.rest.enabled false
SETTINGS
cat >"$made/plait.toml" <<SETTINGS
[tls]
certificate = "server.pem"
key = "server.key"

[[token]]
name = "client"
sha256 = "$(printf '%s' "$token" | openssl dgst -sha256 | sed 's/.* //')"
scopes = ["read", "stream"]

[spark]
"spark.authenticate" = "true"
"spark.authenticate.secret" = "$word"
"spark.network.crypto.enabled" = "true"
SETTINGS
chmod 444 "$made"/*
mv "$made" "$folder"
trap - EXIT
echo "plait: made $folder" >&2

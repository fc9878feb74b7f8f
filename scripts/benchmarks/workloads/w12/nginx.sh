#!/usr/bin/env bash
# W12: nginx with a constant answer, one process: what a server in C can do.
set -euo pipefail
folder=$(mktemp -d)
cat >"$folder/nginx.conf" <<END
daemon off;
master_process off;
pid $folder/nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 4096;
events { worker_connections 2048; }
http {
  access_log off;
  client_body_temp_path $folder/body;
  proxy_temp_path $folder/proxy;
  fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi;
  scgi_temp_path $folder/scgi;
  keepalive_requests 100000000;
  server {
    listen 127.0.0.1:$BENCH_PORT backlog=1024;
    tcp_nodelay on;
    location / { return 200 'hello, world~'; }
  }
}
END
exec nginx -c "$folder/nginx.conf" -e stderr -p "$folder"

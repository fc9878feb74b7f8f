-- A real nginx with a configuration written for the test.
local configuration = [[
daemon off;
master_process off;
pid FOLDER/nginx.pid;
error_log stderr notice;
events {}
http {
  access_log FOLDER/access.log;
  client_body_temp_path FOLDER/body;
  proxy_temp_path FOLDER/proxy;
  fastcgi_temp_path FOLDER/fastcgi;
  uwsgi_temp_path FOLDER/uwsgi;
  scgi_temp_path FOLDER/scgi;
  server {
    listen 127.0.0.1:PORT;
    root FOLDER/www;
    location /old { return 301 /new; }
  }
}
]]

it("serves files and redirects", { timeout = 10 }, function(_, _, t)
  local port, folder = t:free_port(), t:tmpdir()
  local path = t:file("nginx.conf", (configuration:gsub("FOLDER", folder):gsub("PORT", port)))
  t:file("www/index.html", "hello from nginx\n")
  t:spawn { "nginx", "-c", path, "-e", "stderr", "-p", folder }
  t:wait_port(port)

  local base = ":" .. port
  t:get(base .. "/"):expect(200, "^hello from nginx\n$", { headers = { server = "^nginx" } })
  t:get(base .. "/old"):expect(301, nil, { headers = { location = "/new$" } })
  t:get(base .. "/missing"):expect(404)
end)

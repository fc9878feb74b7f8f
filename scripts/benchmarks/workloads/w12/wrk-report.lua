-- What wrk has seen, as JSON for the runner.
function done(summary, latency)
  local errors = 0
  for _, count in pairs(summary.errors) do errors = errors + count end
  print(('{"requests": %d, "rate": %.1f, "p50": %.1f, "p99": %.1f, "errors": %d}'):format(
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50),
    latency:percentile(99), errors))
end

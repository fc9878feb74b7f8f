-- Bundles are folders here, never archives.
return { new_reader = function() end }

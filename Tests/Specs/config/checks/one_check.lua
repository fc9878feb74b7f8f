-- Found by the pattern of .busted.
it("one", function() assert.is_nil(rawget(_G, "leaked")) end)
it("sees the helper", function() assert.equal(os.getenv "MOONLOOP_HELPER", _G.helped) end)

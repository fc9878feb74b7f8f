return "beside the spec"

-- A module beside a spec file, which is not in the folder of the run.
return "beside the spec"

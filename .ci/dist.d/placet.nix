{ stdenv, fetchurl, autoPatchelfHook, lib }:

let
  files = {
    x86_64-linux = {
      target = "x86_64-unknown-linux-gnu";
      sha256 = "@SHA_X86_64@";
    };
    aarch64-linux = {
      target = "aarch64-unknown-linux-gnu";
      sha256 = "@SHA_AARCH64@";
    };
  };
  file = files.${stdenv.hostPlatform.system} or (throw "placet has no binary for ${stdenv.hostPlatform.system}");
in
stdenv.mkDerivation rec {
  pname = "placet";
  version = "@VERSION@";
  src = fetchurl {
    url = "@REPOSITORY@/releases/download/v${version}/placet-${version}-${file.target}.tar.gz";
    inherit (file) sha256;
  };
  nativeBuildInputs = [ autoPatchelfHook ];
  buildInputs = [ stdenv.cc.cc.lib ];
  installPhase = ''
    mkdir -p $out
    cp -r usr/bin usr/share $out/
  '';
  meta = {
    description = "@ABOUT@";
    homepage = "@HOMEPAGE@";
    license = with lib.licenses; [ mit asl20 ];
    platforms = builtins.attrNames files;
    mainProgram = "placet";
  };
}

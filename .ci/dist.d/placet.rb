class Placet < Formula
  desc "@ABOUT@"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_linux do
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/placet-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA_X86_64@"
    end
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/placet-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA_AARCH64@"
    end
  end

  def install
    bin.install "usr/bin/placet"
    man1.install "usr/share/man/man1/placet.1.gz"
    bash_completion.install "usr/share/bash-completion/completions/placet"
    zsh_completion.install "usr/share/zsh/site-functions/_placet"
    fish_completion.install "usr/share/fish/vendor_completions.d/placet.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/placet --version")
  end
end

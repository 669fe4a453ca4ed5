use super::*;

struct SkillHome(tempfile::TempDir);

impl SkillHome {
    fn new() -> SkillHome {
        SkillHome(tempfile::tempdir().unwrap())
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join("skills").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, origin: GuidanceOrigin, trusts: bool) -> SkillCatalog {
        let (path, root) = (self.0.path().join("skills"), self.0.path().to_path_buf());
        SkillCatalog::read(&[GuidanceDir { path, origin, root }], &|_| true, &|_, _| trusts)
    }

    fn own(&self) -> SkillCatalog {
        self.read(GuidanceOrigin::Own, false)
    }
}

fn skill(description: &str) -> String {
    format!("---\ndescription: {description}\n---\nbody\n")
}

#[test]
fn a_skill_is_its_name_its_description_its_text_and_its_files() {
    let home = SkillHome::new();
    home.write("pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files\n---\n# PDF\n\nDo this.\n");
    home.write("pdf/scripts/a.py", "print()");
    home.write("pdf/reference.md", "more");
    home.write("not-a-skill/README.md", "x");
    let catalog = home.own();
    assert_eq!(catalog.list_for_model(), ("- pdf: Reads PDF files\n".into(), None));
    let pdf = catalog.find("pdf").unwrap();
    let body = pdf.body().unwrap();
    assert_eq!(body, "# PDF\n\nDo this.");
    let text = pdf.for_model(&body);
    assert!(text.ends_with("\n\n# PDF\n\nDo this.\n\nfiles of this skill:\nreference.md\nscripts/a.py\n"));
    assert!(pdf.path_of("scripts/a.py").is_ok());
    assert!(matches!(pdf.path_of("../x"), Err(SkillFileError::Outside(_))));
    assert!(matches!(pdf.path_of("/etc/passwd"), Err(SkillFileError::Outside(_))));
    assert!(matches!(pdf.path_of("none.md"), Err(SkillFileError::Missing(_))));
    std::os::unix::fs::symlink("/etc/passwd", pdf.dir.join("link")).unwrap();
    assert!(matches!(pdf.path_of("link"), Err(SkillFileError::Outside(_))));
    home.write("pdf/SKILL.md", &skill("other"));
    assert!(matches!(pdf.body(), Err(SkillFileError::Changed(_))));
}

#[test]
fn a_projects_skill_is_offered_when_it_is_trusted() {
    let home = SkillHome::new();
    home.write("a/SKILL.md", &skill("does a"));
    home.write("b/SKILL.md", "---\ndescription: for people\ndisable-model-invocation: true\n---\nx");
    let unknown = home.read(GuidanceOrigin::Project, false);
    assert_eq!(unknown.untrusted().count(), 2);
    assert_eq!(unknown.list_for_model().0, "");
    assert_eq!(home.read(GuidanceOrigin::Project, true).list_for_model().0, "- a: does a\n");
}

#[test]
fn hostile_names_and_descriptions_are_rendered_cut_or_reported() {
    let home = SkillHome::new();
    home.write("bidi/SKILL.md", &skill("a \u{202e}evil\u{1b}[31m b"));
    home.write("lines/SKILL.md", "---\ndescription: |\n  one\n  - fake: two\n---\nx");
    home.write("long/SKILL.md", &skill(&"word ".repeat(1000)));
    home.write("huge/SKILL.md", &skill(&"x".repeat(1 << 20)));
    home.write("none/SKILL.md", "no front matter");
    home.write("named/SKILL.md", "---\nname: \"a\\nb\"\ndescription: x\n---\nx");
    home.write("odd name/SKILL.md", &skill("x"));
    home.write("open/SKILL.md", "---\ndescription: x\n");
    let catalog = home.own();
    let list = catalog.list_for_model().0;
    assert_eq!(list.lines().count(), 4, "{list}");
    assert!(
        list.contains("- bidi: a <U+202E>evil␛[31m b\n- lines: one - fake: two\n- long: word "),
        "{list}"
    );
    assert!(list.contains("- named: x\n") && list.len() < 1400, "{list}");
    let name =
        |p: &GuidanceProblem| p.path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let mut reported: Vec<String> = catalog.problems.iter().map(name).collect();
    reported.sort();
    assert_eq!(reported, ["huge", "long", "named", "none", "odd name", "open"], "{:?}", catalog.problems);
}

#[test]
fn the_same_name_twice_is_reported_and_the_first_is_used() {
    let (own, project) = (SkillHome::new(), SkillHome::new());
    own.write("a/SKILL.md", &skill("mine"));
    project.write("a/SKILL.md", &skill("theirs"));
    let dir = |home: &SkillHome, origin| GuidanceDir {
        path: home.0.path().join("skills"),
        origin,
        root: home.0.path().to_path_buf(),
    };
    let dirs = [dir(&own, GuidanceOrigin::Own), dir(&project, GuidanceOrigin::Project)];
    let catalog = SkillCatalog::read(&dirs, &|_| true, &|_, _| true);
    assert_eq!(catalog.list_for_model().0, "- a: mine\n");
    assert!(catalog.problems[0].why.starts_with("the name a is taken by "), "{:?}", catalog.problems);
}

#[test]
fn the_list_for_the_model_has_a_budget() {
    let home = SkillHome::new();
    for n in 0..200 {
        home.write(&format!("skill-{n:03}/SKILL.md"), &skill(&"long words ".repeat(20)));
    }
    let (list, why) = home.own().list_for_model();
    assert!(list.len() <= SKILL_LIST_BYTES && list.lines().count() == 200, "{}", list.len());
    let why = why.unwrap();
    assert!(why.starts_with("the list of 200 skills may have 8 KB: descriptions are "), "{why}");
    for n in 0..800 {
        home.write(&format!("further-skill-{n:03}/SKILL.md"), &skill("x"));
    }
    let (list, why) = home.own().list_for_model();
    assert!(list.len() <= SKILL_LIST_BYTES && list.len() > SKILL_LIST_BYTES - 64, "{}", list.len());
    assert!(why.unwrap().contains("the model gets the first "));
}

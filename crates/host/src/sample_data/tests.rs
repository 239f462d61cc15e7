use super::*;

#[test]
fn a_folder_is_its_files_wherever_they_lie() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    for number in 0..400_usize {
        let bytes: Vec<u8> = (0..1000 + number).map(|_| random.u8(..)).collect();
        let name = if number % 2 == 0 { format!("a/{number}") } else { format!("a/b/{number}") };
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("empty"), "").unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("a/loop")).unwrap();
    let traits = DataTraits::sample(folder.path().to_str().unwrap(), None).unwrap();
    assert_eq!((traits.count, traits.data), (400, Data::Incompressible));
    let span = traits.size.span();
    assert!(span.from == 1000 && (1399..=1401).contains(&span.to), "{traits:?}");
    assert!((0.9..1.01).contains(&traits.ratio));
    let text = traits.describe();
    let beginning = "400 values: median 1.17 KiB, mean 1.17 KiB, largest 1.37 KiB, nine";
    assert!(text.starts_with(beginning) && text.contains("Left out, as empty or NULL: 1 value."), "{text}");
}

#[test]
fn sizes_are_measured_as_they_are_distributed() {
    let traits_of = |sizes: &[(u64, usize)]| {
        let mut sample = Sample::new();
        for (size, times) in sizes {
            (0..*times).for_each(|_| sample.add(*size, |_| Ok(vec![b'x'; 10])).unwrap());
        }
        sample.traits().unwrap()
    };
    assert!(traits_of(&[(700, 50)]).describe().ends_with("Measured with sizes of 700 B."));
    let skewed = traits_of(&[(500, 900), (200 << 10, 100)]);
    assert_eq!(skewed.size.to_string(), "90%:500B+10%:200KiB");
    let text = skewed.describe();
    assert!(text.contains("median 500 B, mean 20.4 KiB, largest 200 KiB"), "{text}");
    assert!(text.ends_with("Measured with sizes distributed like these."), "{text}");
}

#[test]
fn a_column_of_a_csv_file_is_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.csv");
    let rows: String =
        (0..500).map(|n| format!("{n},\"the same, word {n} and again the same word\"\n")).collect();
    std::fs::write(&file, format!("id,body\n{rows}")).unwrap();
    let name = |column: &str| format!("{}:{column}", file.display());
    let traits = DataTraits::sample(&name("body"), None).unwrap();
    assert_eq!((traits.count, traits.data), (500, Data::Compressible));
    assert!(traits.ratio > 3.0 && traits.median == 42, "{traits:?}");
    assert!(DataTraits::sample(&name("bodi"), None).unwrap_err().contains("did you mean body?"));
    let columns = DataTraits::sample(file.to_str().unwrap(), None).unwrap_err();
    assert!(columns.contains("name one of its columns"), "{columns}");
    assert!(columns.ends_with("it has id, body"), "{columns}");
}

#[test]
fn what_has_no_values_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let error_of = |name: &Path| DataTraits::sample(name.to_str().unwrap(), None).unwrap_err();
    assert!(error_of(folder.path()).contains("no values"));
    std::fs::write(folder.path().join("x"), "").unwrap();
    assert!(error_of(folder.path()).contains("the only value in it is empty"));
    assert!(error_of(Path::new("/nonexistent")).contains("neither a folder"));
}

#[test]
fn a_sqlite_file_is_known_by_its_start_and_read_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.db");
    std::fs::write(&file, b"SQLite format 3\0 and so on").unwrap();
    let name = format!("{}:notes.body", file.display());
    assert!(DataTraits::sample(&name, None).unwrap_err().contains("this build has no SQLite"));
    let without_table: ReadSqlite = |_, table, _, _| {
        assert_eq!(table, "");
        Err("it has notes, users".into())
    };
    let tables = DataTraits::sample(file.to_str().unwrap(), Some(without_table)).unwrap_err();
    assert!(tables.starts_with("name one of its tables"), "{tables}");
    assert!(tables.ends_with("it has notes, users"), "{tables}");
    let read: ReadSqlite = |_, table, column, value| {
        assert_eq!((table, column), ("notes", Some("body")));
        (1..=3).try_for_each(|length| value(100 * length, &vec![b'x'; 100 * length as usize]))
    };
    let traits = DataTraits::sample(&name, Some(read)).unwrap();
    assert_eq!((traits.count, traits.median), (3, 200));
}

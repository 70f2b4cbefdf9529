//! The words of workflows.
#![cfg(feature = "workflow")]

use lockwork_core::workflow::{
    ActivityId, Addressee, DefinitionHandle, DefinitionId, ErrorKind, ExecutionId, InstanceId,
    MAX_PAYLOAD_BYTES, NodeId, Status, Stimulus, StimulusHash, SubStatus, Time, VersionSelect,
};
use serde_json::{Value, json};
use std::time::Duration;

fn hash(name: &str, payload: &Value) -> String {
    StimulusHash::of(name, payload, None)
        .expect("a stimulus with a short name has a hash")
        .to_string()
}

#[test]
fn stimuli_of_one_field_have_the_hashes_of_elsa() {
    for (name, payload, expected) in [
        (
            "Elsa.Event",
            json!({"EventName": "OrderShipped"}),
            "75E7F05D674FC0529897CFD4E78EC4B7E7C4E9FA16E98096FBCCEC49F8B693F8",
        ),
        (
            "Elsa.DispatchWorkflow",
            json!({"ChildInstanceId": "child-1"}),
            "2247C21FCE1DA4487E3E49224FCEE9B87F5D200B006A067418F49371BEB38378",
        ),
        (
            "Elsa.RunTask",
            json!({"TaskId": "t1"}),
            "DF259905DAFD655B8768F0F28C63FCD52F3071ECEBB544D9683A92650378BD0E",
        ),
        (
            "Elsa.BulkDispatchWorkflows",
            json!({"ParentInstanceId": "p1"}),
            "2AF458749E045FD03D80C56F51360D1A1611ED5B411F46E6423BFFC9CC8F4BDF",
        ),
    ] {
        assert_eq!(hash(name, &payload), expected, "{name}");
    }
}

#[test]
fn a_hash_depends_on_what_is_said_and_not_on_the_order() {
    let payload = json!({"b": [1, {"y": null, "x": "é<"}], "a": null});
    assert_eq!(
        hash("E", &payload),
        hash("E", &json!({"a": null, "b": [1, {"x": "é<"}]})),
        "what is null deeper down is absent"
    );
    let others = [
        json!({"b": [1, {"x": "é<"}]}),
        json!({"a": null, "b": [{"x": "é<"}, 1]}),
        json!({"a": null, "b": ["1", {"x": "é<"}]}),
        json!("text"),
        Value::Null,
    ];
    for other in others {
        assert_ne!(hash("E", &payload), hash("E", &other), "{other}");
    }
    assert_ne!(hash("E", &payload), hash("F", &payload));
    let mine = ExecutionId::new("x1").unwrap();
    let mine = StimulusHash::of("E", &payload, Some(&mine)).unwrap();
    assert_ne!(hash("E", &payload), mine.to_string());
}

#[test]
fn a_hash_is_read_back_as_it_was_written() {
    let hash = StimulusHash::of("E", &json!({"n": 1}), None).unwrap();
    assert_eq!(hash.to_string().parse::<StimulusHash>().unwrap(), hash);
    let json = serde_json::to_string(&hash).unwrap();
    assert_eq!(serde_json::from_str::<StimulusHash>(&json).unwrap(), hash);
    for wrong in [
        "",
        "75E7",
        &"g".repeat(64),
        &"0".repeat(65),
        &"é".repeat(32),
    ] {
        let error = wrong.parse::<StimulusHash>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{wrong}");
    }
}

#[test]
fn what_is_compared_is_small() {
    let long = json!({"name": "x".repeat(1024 * 1024)});
    let error = StimulusHash::of("Event", &long, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error.to_string().contains(&MAX_PAYLOAD_BYTES.to_string()),
        "{error}"
    );
    for name in ["", &"x".repeat(257)] {
        let error = StimulusHash::of(name, &Value::Null, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
}

#[test]
fn ids_are_checked_wherever_they_come_from() {
    for (text, why) in [
        ("", "empty"),
        ("two\nlines", "control"),
        (&*"x".repeat(257), "too long"),
    ] {
        let error = InstanceId::new(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(why), "{error}");
        let error = serde_json::from_value::<InstanceId>(json!(text)).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let id: InstanceId = "4f2a".parse().unwrap();
    assert_eq!(serde_json::to_value(&id).unwrap(), json!("4f2a"));
}

#[test]
fn a_node_is_called_by_those_around_it() {
    let root = NodeId::new("main").unwrap();
    let node = root.child(&ActivityId::new("approve").unwrap()).unwrap();
    assert_eq!(node.as_str(), "main/approve");
    let deep = (0..4096).try_fold(root, |node, _| node.child(&ActivityId::new("x").unwrap()));
    assert_eq!(deep.unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn every_sub_status_is_running_or_finished() {
    let over = SubStatus::ALL
        .into_iter()
        .filter(|s| s.status() == Status::Finished);
    assert_eq!(
        over.collect::<Vec<_>>(),
        [
            SubStatus::Finished,
            SubStatus::Cancelled,
            SubStatus::Faulted
        ]
    );
}

#[test]
fn nothing_is_due_too_early() {
    let start = Time::from_millis(1_000);
    assert_eq!(start.after(Duration::from_micros(1)).as_millis(), 1_001);
    assert_eq!(start.after(Duration::MAX), Time::from_millis(i64::MAX));
    assert_eq!(start.since(Time::from_millis(2_000)), Duration::ZERO);
    assert_eq!(start.since(Time::default()), Duration::from_secs(1));
}

#[test]
fn requests_are_data() {
    let to = serde_json::from_value(json!({"instance": "4f2a"})).unwrap();
    let stimulus = Stimulus::new("Event", &json!({"name": "Paid"}))
        .unwrap()
        .to(to)
        .key("k");
    assert!(stimulus.to.is_certain());
    assert!(!Addressee::default().is_certain());
    let text = serde_json::to_string(&stimulus).unwrap();
    assert_eq!(serde_json::from_str::<Stimulus>(&text).unwrap(), stimulus);

    let handle = DefinitionHandle::published(DefinitionId::new("order").unwrap());
    let json = json!({"of": {"definition": "order", "select": "published"}});
    assert_eq!(serde_json::to_value(&handle).unwrap(), json);
    let third = json!({"of": {"definition": "order", "select": {"number": 3}}});
    let DefinitionHandle::Of { select, .. } = serde_json::from_value(third).unwrap() else {
        panic!("one of a workflow's");
    };
    assert_eq!(select, VersionSelect::Number(3));
}

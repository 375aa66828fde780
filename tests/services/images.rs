//! Images over real HTTP: what both APIs are sent.

use crate::aimock::Mock;
use crate::wire::Wire;
use countersign::{Agent, Declared, Effect, FnTool, Image, Request, Runner, Single, Tool};
use countersign_connect::model::{Api, ChatModel, Protocol, Settings};
use serde_json::{Value, json};
use std::sync::Arc;

/// A picture of one point.
pub const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[tokio::test]
async fn both_apis_are_shown_the_image_and_the_words_behind_it() {
    let mock = Mock::play(&json!([{"match": {"userMessage": "what is it"}, "response": {"content": "One point."}}]));
    // With a tool, so that the fenced protocol has something to write out.
    let look = FnTool::plain("look", "Looks.", Declared::run(Effect::Read), |_: Value| Ok(""));
    let agent = Agent::new("main", "").tool(look.spec());
    let look = Arc::new(look);
    let image = Image::new(GIF).expect("it is one");
    let words = json!({"type": "text", "text": "what is it?"});
    let openai = json!({"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{}", image.base64())}});
    let anthropic = json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": &**image.base64()}});
    for (api, shown) in [(Api::Openai, openai), (Api::Anthropic, anthropic)] {
        for protocol in [Protocol::Native, Protocol::Fenced] {
            let wire = Wire::before(&mock.url(""));
            let settings = Settings { protocol, base_url: Some(format!("{}/v1", wire.url)), ..mock.settings(api) };
            let model = ChatModel::new(settings).expect("it can be set up");
            let runner = Runner::builder(Single::default(), model).agent(agent.clone()).shared_tool(look.clone()).build().expect("it fits together");
            let result = runner.run(Request::from("what is it?").image(image.clone())).await.expect("it comes to rest");
            assert_eq!(result.text(), Some("One point."), "{}", result.log());
            let last = |body: &Value| body["messages"].as_array().and_then(|list| list.last()).expect("there is one")["content"].clone();
            assert_eq!(wire.requests().iter().map(last).collect::<Vec<_>>(), [json!([shown, words])], "{api:?} {protocol:?}");
        }
    }
}

//! Every duty of the cases' glossaries, and what proves that it is done.

use super::Proof::{self, Later, Live, Not, Scenario, Test};

type Row = (&'static str, &'static [Proof]);

/// What an orchestrator, a store or a stream must do.
pub const MUST: &[Row] = &[
    (
        "adopt_orphaned_background",
        &[Scenario("acceptance/orphaned_background"), Test("a_sub_agent_and_its_job_are_taken_over_by_a_resume_and_never_forgotten")],
    ),
    (
        "allow_resume_later",
        &[
            Scenario("acceptance/resume_takes_work_up_first"),
            Scenario("cases/BR-43"),
            Test("a_person_gives_a_fresh_allowance_or_a_higher_limit_and_a_crash_gives_none_on_resume"),
        ],
    ),
    ("assign_internal_id", &[Scenario("acceptance/blank_ids"), Scenario("acceptance/result_without_its_id")]),
    ("bind_evidence_to_state", &[Scenario("acceptance/checks_that_fail_or_age"), Scenario("cases/BR-71")]),
    ("cap_child_output_retries", &[Test("it_is_told_a_bounded_number_of_times")]),
    ("cap_nudges_per_run", &[Scenario("acceptance/empty_text_cannot_finalise"), Scenario("acceptance/guard_rejects")]),
    ("carry_child_outcome", &[Scenario("acceptance/children_must_end"), Scenario("cases/BR-39")]),
    ("carry_done_steps", &[Scenario("acceptance/replan_keeps_what_is_open"), Scenario("cases/BR-31")]),
    ("close_each_call", &[Scenario("cases/BR-09"), Test("a_failing_sibling_cancels_nobody_and_every_call_has_one_result")]),
    (
        "close_open_calls_before_model_call",
        &[
            Test("refuses_a_turn_or_an_end_over_open_calls"),
            Scenario("acceptance/stopped_by_error_over_open_calls"),
            Scenario("cases/BR-05"),
            Test("whatever_crashes_nothing_is_lost_repeated_or_final_too_early"),
        ],
    ),
    ("close_transfer_call", &[Test("a_specialist_that_a_job_wakes_after_its_transfer_is_waited_for_and_heard")]),
    ("consume_grant_when_run_started", &[Scenario("cases/BR-33"), Test("a_resume_that_cannot_start_leaves_grants_unconsumed")]),
    ("contradictory_verdict_needs_resolution", &[Scenario("acceptance/conflicting_verdict"), Scenario("acceptance/rejected_with_all_met")]),
    ("control_calls_are_not_progress", &[Scenario("acceptance/control_calls_are_no_evidence"), Scenario("cases/BR-43")]),
    ("count_every_replan", &[Scenario("acceptance/replan_limit_is_not_an_answer"), Test("failed_and_empty_revisions_count_against_the_limit")]),
    ("dedupe_same_result", &[Test("refuses_to_settle_twice"), Scenario("acceptance/duplicate_result_changes_nothing"), Scenario("cases/BR-07")]),
    ("delegate_once", &[Scenario("cases/BR-69"), Test("what_was_asked_once_is_not_asked_again_by_a_nudge")]),
    ("deliverable_survives_hook_turn", &[Scenario("acceptance/hook_turn_after_the_final"), Later("audit and hooks")]),
    ("denial_is_not_execution", &[Scenario("acceptance/denied_action_that_ran"), Scenario("acceptance/denied_tools_are_no_evidence")]),
    ("detect_conflict_on_typed_claims", &[Scenario("acceptance/conflicting_claims"), Scenario("cases/BR-51")]),
    ("detect_repeat_transfer", &[Scenario("cases/BR-25"), Live("supervisor/ping_pong")]),
    ("disclose_blocked_steps", &[Scenario("cases/BR-73"), Later("server and page")]),
    ("disclose_conflict", &[Scenario("cases/BR-51"), Later("server and page")]),
    ("disclose_failed_child", &[Scenario("acceptance/children_must_end"), Scenario("acceptance/orphan_child_aborted"), Later("server and page")]),
    ("each_transfer_runs_or_is_refused", &[Scenario("acceptance/transfers_must_return"), Scenario("cases/BR-25")]),
    ("error_text_is_not_result", &[Scenario("cases/BR-65"), Test("attempts_have_an_end_and_an_error_is_no_answer")]),
    ("every_listener_gets_all", &[Later("server and page")]),
    ("expose_stop_cause", &[Scenario("acceptance/failure_is_terminal"), Scenario("acceptance/limit_is_not_an_answer")]),
    ("fail_closed_on_ambiguous_id", &[Scenario("acceptance/repeated_ids_side_by_side"), Scenario("cases/BR-61")]),
    ("hand_back_partial", &[Test("a_sub_agent_that_is_cut_off_hands_back_what_it_has_as_partial")]),
    ("honour_inline_error_flag", &[Test("files_are_read_within_what_the_server_allows")]),
    ("judge_checks_by_outcome", &[Scenario("acceptance/checks_that_fail_or_age"), Scenario("cases/BR-49")]),
    ("keep_best_candidate", &[Scenario("cases/BR-45"), Later("server and page")]),
    ("keep_blocker_text", &[Scenario("cases/BR-39"), Later("server and page")]),
    ("keep_earlier_text_as_partial", &[Scenario("acceptance/interim_output_cannot_finalise"), Scenario("cases/BR-13"), Later("server and page")]),
    (
        "keep_finish_reason",
        &[
            Scenario("acceptance/content_filter_is_a_failure"),
            Scenario("acceptance/filtered_half_cannot_finalise"),
            Test("every_finish_reason_is_kept"),
        ],
    ),
    (
        "keep_full_result",
        &[Scenario("acceptance/unmarked_cut_copy"), Scenario("cases/BR-23"), Test("ten_megabytes_of_output_are_cut_with_a_mark_and_kept_whole")],
    ),
    ("keep_partial_text", &[Scenario("cases/BR-19"), Later("server and page")]),
    ("keep_sibling_results", &[Scenario("cases/BR-09"), Test("results_that_were_in_before_the_crash_are_not_made_again")]),
    ("key_calls_by_occurrence", &[Scenario("acceptance/repeated_ids_one_after_the_other")]),
    ("launch_failure_is_error", &[Scenario("cases/BR-11"), Test("a_delegation_that_cannot_begin_is_a_failed_call")]),
    (
        "mark_orphan_child_aborted",
        &[Scenario("acceptance/orphan_child_aborted"), Test("a_sub_agent_and_its_job_are_taken_over_by_a_resume_and_never_forgotten")],
    ),
    ("mark_stream_provisional", &[Later("server and page")]),
    ("mark_synthetic_at_source", &[Scenario("acceptance/stock_text_cannot_finalise"), Test("no_fault_becomes_an_answer_in_any_mode")]),
    (
        "mark_truncation",
        &[
            Scenario("acceptance/unmarked_cut_copy"),
            Scenario("cases/BR-23"),
            Test("one_limit_on_output_holds_for_all_agents_and_nothing_is_cut_twice"),
        ],
    ),
    ("markup_is_not_an_answer", &[Scenario("acceptance/call_markup_cannot_finalise"), Test("a_call_inside_prose_is_no_answer")]),
    ("noop_needs_explicit_marker", &[Test("no_phrase_says_that_nothing_is_to_be_done")]),
    (
        "one_final_per_run",
        &[
            Test("refuses_everything_but_late_results_after_the_end"),
            Scenario("acceptance/asking_twice_sticks_to_nothing"),
            Scenario("acceptance/hook_turn_after_the_final"),
            Later("beyond one machine"),
        ],
    ),
    ("only_owner_may_finish", &[Scenario("acceptance/executor_output_cannot_finalise"), Scenario("acceptance/planner_output_cannot_finalise")]),
    ("owner_moves_with_terminal_transfer", &[Scenario("acceptance/terminal_transfer_with_policy")]),
    (
        "pending_from_log",
        &[
            Scenario("acceptance/awaiting_approval_cannot_finalise"),
            Test("two_calls_wait_and_other_processes_answer_each_before_a_resume_runs_it_once"),
        ],
    ),
    ("pending_question_outranks_gates", &[Scenario("acceptance/open_question_cannot_finalise"), Scenario("cases/BR-77")]),
    ("read_back_result", &[Scenario("cases/BR-29"), Test("a_job_that_ends_by_itself_says_how")]),
    (
        "reap_open_work_on_cancel",
        &[
            Scenario("acceptance/cancellation_is_terminal"),
            Scenario("cases/BR-37"),
            Test("a_cancel_reaps_calls_steps_sub_agents_and_jobs_that_are_under_way"),
        ],
    ),
    ("receipt_is_not_result", &[Scenario("acceptance/background_tools_cannot_finalise"), Scenario("cases/BR-03")]),
    (
        "record_killed_background",
        &[Scenario("acceptance/idle_exit_kills_background"), Test("a_job_whose_process_died_is_marked_and_a_resume_asks_what_became_of_it")],
    ),
    ("record_late_result_only", &[Test("refuses_to_settle_twice"), Scenario("acceptance/cancellation_is_terminal"), Scenario("cases/BR-37")]),
    ("refuse_spawn_beyond_depth", &[Scenario("cases/BR-53"), Live("deep/too_deep")]),
    ("replace_partial_with_final", &[Scenario("cases/BR-41"), Later("server and page")]),
    ("replan_accounts_for_old_steps", &[Scenario("acceptance/replan_keeps_what_is_open"), Scenario("cases/BR-31")]),
    ("replan_after_denial", &[Scenario("acceptance/step_after_denied_step")]),
    ("replay_from_last_seen", &[Scenario("cases/BR-41"), Scenario("cases/BR-57"), Later("server and page")]),
    (
        "replay_recorded_results",
        &[
            Test("a_log_replays_to_the_same_run_through_json_byte_for_byte"),
            Scenario("cases/BR-35"),
            Test("results_that_were_in_before_the_crash_are_not_made_again"),
        ],
    ),
    (
        "rerun_read_only_calls",
        &[Scenario("acceptance/crash_under_a_write"), Scenario("cases/BR-63"), Test("a_kill_inside_a_harmless_tool_runs_it_again")],
    ),
    (
        "reserve_final_turn",
        &[Scenario("cases/BR-47"), Not("a limit is a ruling and never an answer: a run that has come to one is blocked, and a person may raise it")],
    ),
    ("respect_declared_deliverable", &[Scenario("acceptance/plan_as_deliverable")]),
    ("retract_rejected_stream", &[Later("server and page")]),
    ("retry_from_last_event", &[Scenario("acceptance/provider_error_with_retries"), Test("a_kill_at_any_event_of_any_scenario_changes_no_decision")]),
    ("return_control_after_child_end", &[Scenario("acceptance/sub_agent_output_cannot_finalise"), Scenario("cases/BR-27")]),
    ("same_output_limit_for_children", &[Scenario("cases/BR-59"), Test("one_limit_on_output_holds_for_all_agents_and_nothing_is_cut_twice")]),
    ("scratch_writes_do_not_stale", &[Scenario("acceptance/checks_that_fail_or_age")]),
    ("show_failures_to_synthesiser", &[Scenario("cases/BR-73"), Test("what_failed_is_shown_to_whoever_concludes")]),
    ("step_outcome_is_typed", &[Scenario("acceptance/limited_step_is_not_done")]),
    ("stop_on_identical_rejection", &[Scenario("cases/BR-45"), Later("audit and hooks")]),
    ("store_each_result_at_once", &[Scenario("cases/BR-63"), Test("results_that_were_in_before_the_crash_are_not_made_again")]),
    ("take_answer_from_call_args", &[Test("an_answer_or_a_report_is_read_from_its_call")]),
    ("tell_human_of_breach", &[Scenario("acceptance/denied_action_that_ran"), Scenario("acceptance/step_after_denied_step")]),
    (
        "tell_missing_checks",
        &[Test("a_refusal_tells_all_and_echoes_nothing"), Scenario("acceptance/failed_tools_are_no_evidence"), Scenario("cases/BR-01")],
    ),
    ("track_uses_of_replies", &[Scenario("acceptance/children_must_end")]),
    ("trim_ids", &[Scenario("acceptance/repeated_ids_one_after_the_other")]),
    ("truncate_once", &[Test("one_limit_on_output_holds_for_all_agents_and_nothing_is_cut_twice")]),
    (
        "wake_on_background_end",
        &[
            Scenario("acceptance/background_tools_cannot_finalise"),
            Scenario("cases/BR-03"),
            Test("a_job_whose_process_died_is_marked_and_a_resume_asks_what_became_of_it"),
        ],
    ),
    ("zero_budget_means_none", &[Test("a_budget_of_zero_is_none")]),
];

/// What they must not do.
pub const MUST_NOT: &[Row] = &[
    ("abort_run_on_depth_refusal", &[Scenario("cases/BR-53"), Live("deep/too_deep")]),
    ("block_plan_for_open_steps", &[Scenario("acceptance/plan_as_deliverable")]),
    (
        "call_model_with_open_calls",
        &[
            Test("refuses_a_turn_or_an_end_over_open_calls"),
            Scenario("acceptance/stopped_by_error_over_open_calls"),
            Scenario("cases/BR-05"),
            Test("whatever_crashes_nothing_is_lost_repeated_or_final_too_early"),
        ],
    ),
    ("cancel_siblings_on_failure", &[Test("a_failing_sibling_cancels_nobody_and_every_call_has_one_result")]),
    ("concatenate_rejected_and_final", &[Later("server and page")]),
    ("consume_events_once", &[Later("server and page")]),
    (
        "deliver_second_final",
        &[
            Test("refuses_everything_but_late_results_after_the_end"),
            Scenario("acceptance/asking_twice_sticks_to_nothing"),
            Scenario("acceptance/hook_turn_after_the_final"),
        ],
    ),
    ("demand_synthesis_after_terminal_transfer", &[Scenario("acceptance/terminal_transfer_with_policy")]),
    ("detect_placeholder_by_substring", &[Scenario("acceptance/stock_text_cannot_finalise")]),
    ("drop_later_results", &[Scenario("acceptance/blank_ids"), Scenario("acceptance/repeated_ids_one_after_the_other")]),
    ("drop_ok_result", &[Scenario("acceptance/blank_ids"), Scenario("acceptance/result_without_its_id")]),
    (
        "drop_step_silently",
        &[
            Test("refuses_silence_where_a_reason_is_due"),
            Scenario("acceptance/faulty_plan_is_no_way_out"),
            Scenario("acceptance/replan_keeps_what_is_open"),
        ],
    ),
    ("drop_transfer_silently", &[Scenario("acceptance/transfers_must_return"), Scenario("cases/BR-25")]),
    ("fail_run_on_recovered_error", &[Test("a_final_lists_its_evidence_and_what_failed"), Scenario("cases/BR-67")]),
    ("fill_failed_input_with_blank", &[Scenario("acceptance/limited_step_is_not_done"), Scenario("cases/BR-73")]),
    (
        "forget_background_of_ended_child",
        &[Scenario("acceptance/orphaned_background"), Test("a_sub_agent_and_its_job_are_taken_over_by_a_resume_and_never_forgotten")],
    ),
    (
        "kill_background_silently",
        &[Scenario("acceptance/idle_exit_kills_background"), Test("a_job_whose_process_died_is_marked_and_a_resume_asks_what_became_of_it")],
    ),
    (
        "leave_child_running_forever",
        &[
            Scenario("acceptance/children_must_end"),
            Scenario("acceptance/orphan_child_aborted"),
            Test("a_sub_agent_and_its_job_are_taken_over_by_a_resume_and_never_forgotten"),
        ],
    ),
    ("lose_grant", &[Scenario("cases/BR-33"), Test("a_resume_that_cannot_start_leaves_grants_unconsumed")]),
    (
        "nudge_while_waiting_for_user",
        &[Scenario("acceptance/awaiting_approval_cannot_finalise"), Scenario("acceptance/open_question_cannot_finalise")],
    ),
    ("nudge_without_progress", &[Scenario("acceptance/same_answer_again_is_no_progress"), Scenario("cases/BR-45")]),
    (
        "overwrite_final",
        &[
            Test("refuses_everything_but_late_results_after_the_end"),
            Scenario("acceptance/asking_twice_sticks_to_nothing"),
            Scenario("acceptance/hook_turn_after_the_final"),
        ],
    ),
    ("pass_single_reply_through", &[Scenario("acceptance/relaying_is_not_concluding")]),
    ("pass_whole_output", &[Scenario("cases/BR-59"), Test("one_limit_on_output_holds_for_all_agents_and_nothing_is_cut_twice")]),
    ("pick_side_silently", &[Scenario("acceptance/conflicting_claims"), Scenario("acceptance/conflicting_verdict")]),
    ("promote_reasoning_silently", &[Scenario("acceptance/reasoning_cannot_finalise"), Scenario("cases/BR-15")]),
    (
        "redelegate_for_cut_copy",
        &[Scenario("acceptance/unmarked_cut_copy"), Scenario("cases/BR-23"), Test("a_long_result_of_a_sub_agent_reaches_its_owner_whole")],
    ),
    ("relabel_limited_as_done", &[Scenario("acceptance/limited_step_is_not_done")]),
    (
        "report_completed_early",
        &[
            Test("refuses_a_decision_that_the_gate_would_not_make"),
            Scenario("acceptance/child_words_are_no_evidence"),
            Scenario("acceptance/executor_output_cannot_finalise"),
        ],
    ),
    ("rerun_done_step", &[Scenario("cases/BR-31"), Test("a_step_that_was_done_before_the_crash_is_not_done_again")]),
    ("rerun_ok_siblings", &[Scenario("cases/BR-09"), Test("results_that_were_in_before_the_crash_are_not_made_again")]),
    ("rerun_ok_write", &[Scenario("cases/BR-35"), Test("results_that_were_in_before_the_crash_are_not_made_again")]),
    (
        "rerun_write_with_unknown_outcome",
        &[Scenario("acceptance/crash_under_a_write"), Scenario("cases/BR-63"), Test("a_kill_inside_a_write_never_runs_it_again_by_itself")],
    ),
    ("reset_cap_on_control_call", &[Scenario("cases/BR-43")]),
    ("resolve_to_permissive_side", &[Scenario("acceptance/conflicting_verdict")]),
    ("resubscribe_without_replay", &[Scenario("cases/BR-57"), Later("server and page")]),
    ("retry_same_prompt", &[Scenario("acceptance/content_filter_is_a_failure"), Test("a_refusal_is_no_answer_whatever_it_says")]),
    ("revive_terminal_run", &[Scenario("acceptance/cancellation_is_terminal"), Scenario("cases/BR-37")]),
    (
        "run_both_on_one_grant",
        &[
            Scenario("acceptance/repeated_ids_side_by_side"),
            Scenario("cases/BR-61"),
            Test("two_calls_wait_and_other_processes_answer_each_before_a_resume_runs_it_once"),
        ],
    ),
    ("run_step_after_denial", &[Scenario("acceptance/step_after_denied_step")]),
    (
        "send_two_results_for_one_call",
        &[Test("refuses_to_settle_twice"), Scenario("acceptance/duplicate_result_changes_nothing"), Scenario("cases/BR-07")],
    ),
    (
        "show_partial_as_final",
        &[Scenario("acceptance/failure_is_terminal"), Scenario("acceptance/filtered_half_cannot_finalise"), Later("server and page")],
    ),
    ("skip_executor_on_phrase", &[Test("no_phrase_says_that_nothing_is_to_be_done")]),
    ("start_child_without_budget", &[Test("a_budget_of_zero_is_none")]),
    ("take_last_text_as_child_result", &[Test("an_answer_or_a_report_is_read_from_its_call")]),
    ("use_truncation_notice_as_answer", &[Test("words_that_a_limit_cut_are_no_answer")]),
];

//! The journeys again in Firefox, word for word. It is driven over WebDriver BiDi, which it speaks
//! by itself. Debian has no package of geckodriver; `cargo install geckodriver` builds one, but it
//! only passes these commands on, and the suite would take minutes longer to install.

use crate::browser::in_firefox;
use crate::{
    accounts, boards, live, operator, playing, presence, replaying, showing, start, views, watching,
};

macro_rules! journeys {
    ($($module:ident :: $name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            in_firefox($module::$name);
        })*
    };
}

journeys! {
    accounts::login_wrong_password_logout,
    accounts::a_person_registers_changes_the_password_and_comes_back,
    boards::guest_plays_yahtzee_with_the_mouse,
    boards::guest_plays_fish_with_the_mouse,
    boards::guest_plays_trains_with_the_mouse,
    boards::guest_plays_yahtzee_by_keyboard_alone_and_kept_dice_stay_kept,
    boards::guest_plays_fish_by_keyboard_alone,
    boards::guest_plays_trains_by_keyboard_alone,
    live::the_lobby_shows_a_tournament_start_and_its_result_live,
    live::a_person_signs_up_in_two_clicks_and_a_program_is_seen,
    operator::an_operator_pauses_overrides_undoes_and_resumes,
    playing::two_people_play_a_whole_game_of_yahtzee_in_two_browsers,
    playing::a_person_plays_fish_against_house_players_to_the_end,
    playing::a_person_plays_trains_against_house_players_to_the_end,
    playing::open_question_survives_a_reload_and_a_change_of_device,
    presence::person_away_from_the_board_loses_nothing,
    replaying::a_replay_is_scrubbed_to_the_end_and_shows_the_logged_result,
    replaying::verify_checks_every_game_and_a_forged_event_fails_where_it_is,
    showing::projector_follows_a_live_cup_to_its_winner,
    showing::graph_has_the_numbers_of_agon_analyse,
    start::two_people_meet_through_a_queue,
    views::a_tournament_agrees_with_the_api,
    watching::late_observer_sees_the_position_and_all_earlier_moves,
}

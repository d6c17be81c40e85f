%% A Yahtzee player of the referee protocol (docs/protocol/erlang.md).
%%
%%   escript referee_player.erl NAME PASSWORD COOKIE [SERVER_NODE]
%%
%% It registers and answers every request. It needs no memory: every request carries the dice, both
%% cards, the history of the game and the state of the match.
-module(referee_player).
-export([main/1]).

main([Name, Password, Cookie]) -> main([Name, Password, Cookie, "agon@localhost"]);
main([Name, Password, Cookie, ServerNode]) ->
    Server = list_to_atom(ServerNode),
    start_node(Name, Cookie, ServerNode),
    Ref = make_ref(),
    {main_manager, Server} ! {self(), Ref, player_registration, Name, Password},
    receive
        {Ref, login_success} ->
            io:format("~s is logged in~n", [Name]),
            erlang:monitor_node(Server, true),
            play()
    after 30000 ->
        io:format("no answer: is the cookie right, and the password?~n"),
        halt(1)
    end;
main(_) ->
    io:format("usage: escript referee_player.erl NAME PASSWORD COOKIE [SERVER_NODE]~n"),
    halt(2).

%% Every player is a node of its own. Names are short if the server's host has no dot in it. A player
%% on another machine sets PLAYER_HOST to the name or address of its own machine.
start_node(Name, Cookie, ServerNode) ->
    [_, Host] = string:split(ServerNode, "@"),
    Kind = case lists:member($., Host) of true -> longnames; false -> shortnames end,
    Own = list_to_atom(lists:concat([referee_, Name, "@", os:getenv("PLAYER_HOST", Host)])),
    {ok, _} = net_kernel:start([Own, Kind]),
    erlang:set_cookie(node(), list_to_atom(Cookie)).

play() ->
    receive
        {Manager, Ref, start_turn, Dice, _GameState, _MatchState} ->
            Manager ! {Ref, first_modification_attempt, keepers(Dice)};
        {Manager, Ref, second_roll, Dice, _GameState, _MatchState} ->
            Manager ! {Ref, second_modification_attempt, keepers(Dice)};
        {Manager, Ref, final_roll, Dice, {OwnCard, _OpponentCard, _History}, _MatchState} ->
            Manager ! {Ref, score_selection, best_box(Dice, OwnCard)};
        {nodedown, _} ->
            io:format("the server is gone~n"),
            halt(1)
    end,
    play().

%% The values of the dice to keep: those that there are most of.
keepers(Dice) ->
    {_, Most} = lists:max([{count(Die, Dice), Die} || Die <- Dice]),
    [Die || Die <- Dice, Die =:= Most].

%% The empty box that brings most points. Empty boxes hold no_value, nothing else on a card does.
best_box(Dice, Card) ->
    {_, Box} = lists:max([{points(Box, Dice), Box} || {Box, no_value} <- Card]),
    Box.

points(aces, Dice) -> 1 * count(1, Dice);
points(twos, Dice) -> 2 * count(2, Dice);
points(threes, Dice) -> 3 * count(3, Dice);
points(fours, Dice) -> 4 * count(4, Dice);
points(fives, Dice) -> 5 * count(5, Dice);
points(sixes, Dice) -> 6 * count(6, Dice);
points(three_of_a_kind, Dice) -> alike(3, Dice);
points(four_of_a_kind, Dice) -> alike(4, Dice);
points(full_house, Dice) ->
    case lists:sort([count(Die, Dice) || Die <- lists:usort(Dice)]) of [2, 3] -> 25; _ -> 0 end;
points(small_straight, Dice) -> row(4, 30, Dice);
points(large_straight, Dice) -> row(5, 40, Dice);
points(yahtzee, [Die, Die, Die, Die, Die]) -> 50;
points(yahtzee, _) -> 0;
points(chance, Dice) -> lists:sum(Dice).

count(Die, Dice) -> length([Other || Other <- Dice, Other =:= Die]).

alike(Many, Dice) ->
    case lists:any(fun(Die) -> count(Die, Dice) >= Many end, Dice) of
        true -> lists:sum(Dice);
        false -> 0
    end.

row(Length, Points, Dice) ->
    Rows = [lists:seq(First, First + Length - 1) || First <- lists:seq(1, 7 - Length)],
    case lists:any(fun(Row) -> Row -- Dice =:= [] end, Rows) of true -> Points; false -> 0 end.

%% A Yahtzee player of the queue protocol (docs/protocol/erlang.md).
%%
%%   escript queue_player.erl NAME PASSWORD COOKIE [SERVER_NODE]
%%
%% It registers if its name is new, waits in the queue for one tournament, plays it, and waits for
%% the next one. The server sends it only the dice, so it keeps a card for each of its games.
-module(queue_player).
-export([main/1]).

-define(BOXES, [aces, twos, threes, fours, fives, sixes, three_of_a_kind, four_of_a_kind,
                full_house, small_straight, large_straight, yahtzee, chance]).

main([Name, Password, Cookie]) -> main([Name, Password, Cookie, "agon@localhost"]);
main([Name, Password, Cookie, ServerNode]) ->
    Server = list_to_atom(ServerNode),
    start_node(Name, Cookie, ServerNode),
    log_in({tournament_manager, Server}, Name, Password),
    erlang:monitor_node(Server, true),
    {tournament_manager, Server} ! {Name, Password, enqueueMe},
    play({tournament_manager, Server}, Name, Password, #{});
main(_) ->
    io:format("usage: escript queue_player.erl NAME PASSWORD COOKIE [SERVER_NODE]~n"),
    halt(2).

%% Every player is a node of its own. Names are short if the server's host has no dot in it. A player
%% on another machine sets PLAYER_HOST to the name or address of its own machine.
start_node(Name, Cookie, ServerNode) ->
    [_, Host] = string:split(ServerNode, "@"),
    Kind = case lists:member($., Host) of true -> longnames; false -> shortnames end,
    Own = list_to_atom(lists:concat([queue_, Name, "@", os:getenv("PLAYER_HOST", Host)])),
    {ok, _} = net_kernel:start([Own, Kind]),
    erlang:set_cookie(node(), list_to_atom(Cookie)).

log_in(Manager, Name, Password) ->
    Manager ! {self(), login, Name, Password},
    receive
        {authenticated, Active, Pending} ->
            io:format("~s is logged in, plays in ~b and waits for ~b tournaments~n",
                      [Name, Active, Pending]);
        {new_user} ->
            Manager ! {new_password, Name, Password, false},
            log_in(Manager, Name, Password);
        {not_authenticated} ->
            io:format("the password is wrong, or ~s is logged in already~n", [Name]),
            halt(1)
    after 30000 ->
        io:format("no answer: is the cookie right?~n"),
        halt(1)
    end.

%% Games has for each game how often its dice were rolled in this turn, and the filled boxes.
play(Manager, Name, Password, Games) ->
    receive
        {dice, Tid, Gid, Dice} ->
            {Rolls, Filled} = maps:get(Gid, Games, {1, []}),
            Reroll = reroll(Dice),
            case Rolls =:= 3 orelse Reroll =:= [] of
                true ->
                    Box = best_box(Dice, ?BOXES -- Filled),
                    Manager ! {Name, Password, end_turn, Dice, Box},
                    play(Manager, Name, Password, Games#{Gid => {1, [Box | Filled]}});
                false ->
                    Manager ! {Name, Password, modification, Tid, Gid, Reroll},
                    play(Manager, Name, Password, Games#{Gid => {Rolls + 1, Filled}})
            end;
        {tournament_over, _Tid} ->
            io:format("~s has no more games in the tournament~n", [Name]),
            Manager ! {Name, Password, enqueueMe},
            play(Manager, Name, Password, Games);
        {nodedown, _} ->
            io:format("the server is gone~n"),
            halt(1)
    end.

%% The values of the dice to roll again: all but those that there are most of.
reroll(Dice) ->
    {_, Most} = lists:max([{count(Die, Dice), Die} || Die <- Dice]),
    [Die || Die <- Dice, Die =/= Most].

best_box(Dice, Empty) ->
    {_, Box} = lists:max([{points(Box, Dice), Box} || Box <- Empty]),
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

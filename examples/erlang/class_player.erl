%% A Yahtzee player of the class protocol (docs/protocol/erlang.md).
%%
%%   escript class_player.erl NAME PASSWORD COOKIE [SERVER_NODE]
%%
%% It logs in, accepts every tournament it is invited to, and plays until it is stopped. It keeps
%% the most frequent dice, and fills the box with the most points.
-module(class_player).
-export([main/1]).

main([Name, Password, Cookie]) -> main([Name, Password, Cookie, "agon@localhost"]);
main([Name, Password, Cookie, ServerNode]) ->
    Server = list_to_atom(ServerNode),
    start_node(Name, Cookie, ServerNode),
    %% Log in. A new name is registered with this password. The server answers with a ticket, which
    %% proves later on that we are the one who logged in.
    {yahtzee_manager, Server} ! {login, self(), Name, {Name, Password}},
    receive
        {logged_in, _Manager, Name, Ticket} ->
            io:format("~s is logged in~n", [Name]),
            erlang:monitor_node(Server, true),
            play(Name, Ticket)
    after 30000 ->
        io:format("no answer: is the cookie right, and the password?~n"),
        halt(1)
    end;
main(_) ->
    io:format("usage: escript class_player.erl NAME PASSWORD COOKIE [SERVER_NODE]~n"),
    halt(2).

%% Every player is a node of its own. Names are short if the server's host has no dot in it. A player
%% on another machine sets PLAYER_HOST to the name or address of its own machine.
start_node(Name, Cookie, ServerNode) ->
    [_, Host] = string:split(ServerNode, "@"),
    Kind = case lists:member($., Host) of true -> longnames; false -> shortnames end,
    Own = list_to_atom(lists:concat([class_, Name, "@", os:getenv("PLAYER_HOST", Host)])),
    {ok, _} = net_kernel:start([Own, Kind]),
    erlang:set_cookie(node(), list_to_atom(Cookie)).

play(Name, Ticket) ->
    receive
        %% An invitation: the play requests go to the process that accepts it.
        {start_tournament, Manager, Name, Tid} ->
            Manager ! {accept_tournament, self(), Name, {Tid, Ticket}};
        %% A roll. Roll is 1, 2 or 3; a card has 13 boxes, -1 where empty, and counts bonuses.
        {play_request, Manager, Name, {Ref, Tid, Gid, Roll, Dice, Card, _OpponentCard}} ->
            Line = case Roll of 3 -> best_line(Dice, Card); _ -> 0 end,
            Manager ! {play_action, self(), Name, {Ref, Tid, Gid, Roll, keep(Dice), Line}};
        {end_tournament, _Manager, Name, _Tid} ->
            io:format("~s has no more games in the tournament~n", [Name]);
        {nodedown, _} ->
            io:format("the server is gone~n"),
            halt(1)
    end,
    play(Name, Ticket).

%% Which dice to keep, by place: those that there are most of.
keep(Dice) ->
    {_, Most} = lists:max([{count(Die, Dice), Die} || Die <- Dice]),
    [Die =:= Most || Die <- Dice].

%% The empty line that brings most points.
best_line(Dice, Card) ->
    Lines = lists:zip(lists:seq(1, 13), lists:sublist(Card, 13)),
    {_, Line} = lists:max([{points(Line, Dice), Line} || {Line, -1} <- Lines]),
    Line.

points(Line, Dice) when Line =< 6 -> Line * count(Line, Dice);
points(7, Dice) -> alike(3, Dice);
points(8, Dice) -> alike(4, Dice);
points(9, Dice) ->
    case lists:sort([count(Die, Dice) || Die <- lists:usort(Dice)]) of [2, 3] -> 25; _ -> 0 end;
points(10, Dice) -> row(4, 30, Dice);
points(11, Dice) -> row(5, 40, Dice);
points(12, [Die, Die, Die, Die, Die]) -> 50;
points(12, _) -> 0;
points(13, Dice) -> lists:sum(Dice).

count(Die, Dice) -> length([Other || Other <- Dice, Other =:= Die]).

alike(Many, Dice) ->
    case lists:any(fun(Die) -> count(Die, Dice) >= Many end, Dice) of
        true -> lists:sum(Dice);
        false -> 0
    end.

row(Length, Points, Dice) ->
    Rows = [lists:seq(First, First + Length - 1) || First <- lists:seq(1, 7 - Length)],
    case lists:any(fun(Row) -> Row -- Dice =:= [] end, Rows) of true -> Points; false -> 0 end.

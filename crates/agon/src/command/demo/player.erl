%% A player of the class protocol: keeps the dice there are most of, and fills the first free line.
%%
%%   erl -sname me@localhost -setcookie COOKIE
%%   1> c(player), player:start('agon@localhost', "me", "my password").
-module(player).
-export([start/3, cup/4]).

%% Logs in and plays until the node ends.
start(Agon, User, Password) ->
    Who = self(),
    spawn(fun() ->
        {yahtzee_manager, Agon} ! {login, self(), User, {User, Password}},
        receive
            {logged_in, _, User, Ticket} ->
                io:format("~s is logged in~n", [User]),
                Who ! {logged_in, User},
                loop(User, Ticket)
        end
    end).

loop(User, Ticket) ->
    receive
        {start_tournament, Manager, User, Tid} ->
            Manager ! {accept_tournament, self(), User, {Tid, Ticket}};
        {play_request, Manager, User, {Ref, Tid, Gid, Roll, Dice, Card, _}} ->
            Line = case Roll of 3 -> free(Card); _ -> 0 end,
            Manager ! {play_action, self(), User, {Ref, Tid, Gid, Roll, keep(Dice), Line}};
        {end_tournament, _, User, _} ->
            io:format("~s has no more games~n", [User])
    end,
    loop(User, Ticket).

keep(Dice) ->
    {_, Most} = lists:max([{length([D || D <- Dice, D =:= Die]), Die} || Die <- Dice]),
    [Die =:= Most || Die <- Dice].

free(Card) ->
    hd([Line || {Line, -1} <- lists:zip(lists:seq(1, 13), lists:sublist(Card, 13))]).

%% Players of these names, a tournament of all of them, and who won it.
cup(Agon, Users, Password, Games) ->
    [start(Agon, User, Password) || User <- Users],
    [receive {logged_in, User} -> ok end || User <- Users],
    {yahtzee_manager, Agon} ! {request_tournament, self(), {length(Users), Games}},
    receive
        {tournament_started, _, {Tid, Playing, _}} ->
            io:format("~p play~n", [Playing]),
            won(Agon, Tid)
    end.

won(Agon, Tid) ->
    {yahtzee_manager, Agon} ! {tournament_info, self(), Tid},
    receive
        {tournament_status, _, {Tid, complete, Winner, _}} -> io:format("~s wins~n", [Winner]);
        {tournament_status, _, _} -> timer:sleep(100), won(Agon, Tid)
    end.

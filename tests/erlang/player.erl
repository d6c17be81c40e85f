%% Players for tests, in every vocabulary of docs/protocol/erlang.md, on a node of their own.
%%
%% It is told what to do by terms on its input, one in a line, and says what happens on its output,
%% one term in a line. The server's node is given as `-agon NODE`.
%%
%%   {player, User, Password, Vocabulary, Options}.   a process that logs in and plays
%%   {kill, User}.  {logout, User}.  {say, User, What}.
%%   {request, Players, Games}.                       class: a tournament
%%   {bracket, Rounds, Games}.                        referee: a tournament
%%   {waiting, Players}.                              queue: a tournament
%%   {info}.  {user_info, User}.  {stats, User}.  {queue_stats, User}.
%%   {raw, Name, Term}.  {monitor}.  {link}.  {ping}.  {disconnect}.
%%   {send, Name, Term}.                              as raw, with self and ref for a pid and a
%%                                                    reference, and elsewhere for a pid on two@localhost
%%
%% Vocabularies: class, tupled, no_user, referee, queue. Options:
%%   {crash_at, N}     the process ends at its Nth request, once
%%   {mute_at, N}      from its Nth request on it says nothing
%%   {cheat_at, N, How}  at its Nth request it cheats: box_filled, no_such_box, keepers, again,
%%                     garbled, roll, stale, foreign, dice, points
%%   {again, Bool}     whether it comes back after a crash
%%   {plays, other}    class: another process than the one that logged in plays
%%   {rejects, true}  {ticket, bad}   class: how it answers invitations
%%   {boxes, last}     fills boxes from the last
%%   {places, N}       queue: waits for N tournaments
%%   {order, reverse}  queue: answers the latest of the dice that lie before it first
%%   {sequential, true}  queue: finishes a turn before it looks at other dice
%%   {late_at, N, Ms}  waits so long before it answers its Nth request
-module(player).
-export([main/0]).

-define(BOXES, [aces, twos, threes, fours, fives, sixes, three_of_a_kind, four_of_a_kind,
                full_house, small_straight, large_straight, yahtzee, chance]).

main() ->
    {ok, [[Agon]]} = init:get_argument(agon),
    put(agon, list_to_atom(Agon)),
    process_flag(trap_exit, true),
    say({up, node()}),
    Main = self(),
    spawn_link(fun() -> read(Main) end),
    loop(#{}).

read(Main) ->
    case io:read('') of
        {ok, Command} -> Main ! {command, Command}, read(Main);
        _ -> halt(0)
    end.

say(Term) -> io:format("~0p~n", [Term]).

to(Name, Term) -> {Name, get(agon)} ! Term.

loop(Players) ->
    receive
        {command, Command} -> loop(do(Command, Players));
        {'DOWN', _, process, Down, Why} ->
            case [User || {User, {Pid, _}} <- maps:to_list(Players), Pid == Down] of
                [User] ->
                    say({ended, User}),
                    {_, Again} = maps:get(User, Players),
                    case Again of
                        none -> loop(maps:remove(User, Players));
                        Start -> loop(Players#{User := {Start(), none}})
                    end;
                [] -> say({down, Down, Why}), loop(Players)
            end;
        {'EXIT', _, Why} when Why /= normal -> say({linked_ended, Why}), loop(Players);
        {'EXIT', _, _} -> loop(Players);
        {tournament_started, _, {Tid, Users, _}} ->
            put(tid, Tid),
            say({tournament_started, Users}),
            loop(Players);
        {tournament_status, _, {Tid, Status, Winner, _}} ->
            say({tournament_status, Tid == get(tid), Status, Winner}),
            loop(Players);
        {user_status, _, Status} -> say({user_status, Status}), loop(Players);
        {Ref, stats_response, Data} when is_reference(Ref) -> say({stats, Data}), loop(Players);
        {stats, User, Data} -> say({queue_stats, User, Data}), loop(Players);
        {Ref, tournament_ended, Winner} when is_reference(Ref) ->
            say({tournament_ended, Winner}),
            loop(Players);
        Other -> say({heard, Other}), loop(Players)
    end.

do({player, User, Password, Vocabulary, Options}, Players) ->
    Agon = get(agon),
    Start = fun(Given) ->
        {Pid, _} = spawn_monitor(fun() ->
            put(agon, Agon), put(user, User), put(password, Password), put(requests, 0),
            put(opts, Given),
            log_in(Vocabulary),
            play(Vocabulary)
        end),
        Pid
    end,
    Again = case proplists:get_value(again, Options, false) of
        true -> fun() -> Start(lists:keydelete(crash_at, 1, Options)) end;
        false -> none
    end,
    Players#{User => {Start(Options), Again}};
do({kill, User}, Players) -> {Pid, _} = maps:get(User, Players), exit(Pid, kill), Players;
do({logout, User}, Players) -> {Pid, _} = maps:get(User, Players), Pid ! log_out, Players;
do({say, User, What}, Players) -> {Pid, _} = maps:get(User, Players), Pid ! {say, What}, Players;
do({request, Count, Games}, Players) ->
    to(yahtzee_manager, {request_tournament, self(), {Count, Games}}), Players;
do({bracket, Rounds, Games}, Players) ->
    to(main_manager, {self(), make_ref(), start_tournament, Rounds, Games}), Players;
do({waiting, Most}, Players) -> to(tournament_manager, {start_tournament, Most}), Players;
do({info}, Players) -> to(yahtzee_manager, {tournament_info, self(), get(tid)}), Players;
do({info, Term}, Players) -> to(yahtzee_manager, {tournament_info, self(), Term}), Players;
do({user_info, User}, Players) -> to(yahtzee_manager, {user_info, self(), User}), Players;
do({stats, User}, Players) ->
    to(main_manager, {self(), make_ref(), stats_request, User}), Players;
do({queue_stats, User}, Players) -> to(tournament_manager, {User, stats_request}), Players;
do({raw, Name, Term}, Players) -> to(Name, Term), Players;
do({send, Name, Term}, Players) -> to(Name, filled_in(Term)), Players;
do({monitor}, Players) ->
    monitor(process, {yahtzee_manager, get(agon)}),
    monitor(process, {nobody, get(agon)}),
    Players;
do({disconnect}, Players) -> say({disconnected, erlang:disconnect_node(get(agon))}), Players;
do({ping}, Players) -> say({ping, net_adm:ping(get(agon))}), Players.

filled_in(self) -> self();
filled_in(ref) -> make_ref();
filled_in(elsewhere) -> rpc:call('two@localhost', erlang, whereis, [init]);
filled_in(Tuple) when is_tuple(Tuple) ->
    list_to_tuple([filled_in(Item) || Item <- tuple_to_list(Tuple)]);
filled_in(Term) -> Term.

%% Logging in.

log_in(class) ->
    User = get(user),
    to(yahtzee_manager, {login, self(), User, {User, get(password)}}),
    receive {logged_in, Manager, User, Ticket} -> entered(Manager, Ticket) end;
log_in(tupled) ->
    User = get(user),
    to(yahtzee_manager, {login, self(), node(), {User, get(password)}}),
    receive {logged_in, Manager, User, {Ticket}} -> entered(Manager, Ticket) end;
log_in(no_user) ->
    to(yahtzee_manager, {login, self(), {get(user), get(password)}}),
    receive {logged_in, Manager, Ticket} -> entered(Manager, Ticket) end;
log_in(referee) ->
    Ref = make_ref(),
    to(main_manager, {self(), Ref, player_registration, get(user), get(password)}),
    receive {Ref, login_success} -> say({logged_in, get(user)}) end;
log_in(queue) ->
    to(tournament_manager, {self(), login, get(user), get(password)}),
    receive
        {authenticated, Active, Pending} ->
            say({logged_in, get(user)}),
            say({authenticated, get(user), Active, Pending}),
            case Active of
                0 ->
                    Places = proplists:get_value(places, get(opts), 1),
                    [to(tournament_manager, {get(user), get(password), enqueueMe})
                     || _ <- lists:seq(1, Places)];
                _ -> ok
            end;
        {not_authenticated} ->
            % A node that is gone may not have been missed yet.
            say({not_authenticated, get(user)}),
            case opt(insists) of
                undefined -> exit(normal);
                _ -> receive after 50 -> log_in(queue) end
            end;
        {new_user} ->
            say({new_user, get(user)}),
            to(tournament_manager, {new_password, get(user), get(password), false}),
            log_in(queue)
    end.

entered(Manager, Ticket) ->
    put(manager, Manager),
    put(ticket, Ticket),
    say({logged_in, get(user)}).

opt(Name) -> proplists:get_value(Name, get(opts)).

%% Playing.

play(Vocabulary) ->
    receive
        log_out -> log_out(Vocabulary), say({logged_out, get(user)}), play(Vocabulary);
        {say, {Name, Term}} -> to(Name, Term), play(Vocabulary);
        Message -> heard(Vocabulary, Message), play(Vocabulary)
    end.

log_out(class) -> to(yahtzee_manager, {logout, self(), get(user), get(ticket)});
log_out(tupled) -> to(yahtzee_manager, {logout, self(), get(user), {get(ticket)}});
log_out(no_user) -> to(yahtzee_manager, {logout, self(), get(ticket)});
log_out(queue) -> to(tournament_manager, {get(user), get(password), logout});
log_out(referee) -> ok.

%% Which request this is, and what is to be done wrong about it.
count() ->
    Count = get(requests) + 1,
    put(requests, Count),
    case opt(crash_at) of Count -> exit(crashed); _ -> ok end,
    case lists:keyfind(late_at, 1, get(opts)) of
        {late_at, Count, Ms} -> receive after Ms -> say({late, get(user)}) end;
        _ -> ok
    end,
    case opt(mute_at) of
        Mute when is_integer(Mute), Count >= Mute -> mute;
        _ ->
            case lists:keyfind(cheat_at, 1, get(opts)) of
                {cheat_at, Count, How} -> say({cheats, get(user), How}), How;
                _ -> fair
            end
    end.

heard(class, {start_tournament, M, _, Tid}) ->
    accept(M, Tid, fun(A, P, Ticket) -> {A, P, get(user), {Tid, Ticket}} end);
heard(tupled, {start_tournament, M, _, {Tid}}) ->
    accept(M, Tid, fun(A, P, Ticket) -> {A, P, get(user), {Tid, Ticket}} end);
heard(no_user, {start_tournament, M, Tid}) ->
    accept(M, Tid, fun(A, P, _) -> {A, P, Tid} end);
heard(class, {play_request, M, User, {Ref, Tid, Gid, Roll, Dice, Card, Other}}) ->
    User = get(user),
    14 = length(Other),
    act(M, fun(Keep, Line) -> {play_action, self(), User, {Ref, Tid, Gid, Roll, Keep, Line}} end,
        class, Ref, Tid, Gid, Roll, Dice, Card);
heard(tupled, {play_request, M, User, {Ref, Tid, Gid, Roll, Dice, Card, _}}) ->
    User = get(user),
    act(M, fun(Keep, Line) -> {play_action, self(), User, {Ref, Tid, Gid, Roll, Keep, Line}} end,
        tupled, Ref, Tid, Gid, Roll, Dice, Card);
heard(no_user, {play_request, M, {Ref, Tid, Gid, Turn, Roll, Dice, Card, _}}) ->
    true = Turn >= 1 andalso Turn =< 13,
    act(M, fun(Keep, Line) -> {play_action, self(), {Ref, Tid, Gid, Roll, Keep, Line}} end,
        no_user, Ref, Tid, Gid, Roll, Dice, Card);
heard(no_user, {end_tournament, _, _}) -> say({end_tournament, get(user)});
heard(Class, {end_tournament, _, _, _}) when Class == class; Class == tupled ->
    say({end_tournament, get(user)});
heard(referee, {M, Ref, Kind, Dice, {Own, Other, History}, {Wins, Losses, Of, Lost, Games}})
        when is_pid(M), is_reference(Ref) ->
    [13, 13] = [length([Box || Box <- ?BOXES, orddict:is_key(Box, Card)]) || Card <- [Own, Other]],
    [true, true] = [sums(Card) || Card <- [Own, Other]],
    {Rolls, Keepers, no_value} = orddict:fetch(current_turn, Own),
    false = orddict:is_key(current_turn, Other),
    true = lists:last(Rolls) == Dice andalso length(Keepers) == length(Rolls) - 1,
    true = is_list(History) andalso Wins + Losses =< Of andalso is_list(Lost),
    Forfeited = [Number || {Number, _} <- Lost],
    [full(Game) || {Number, _, _, _} = Game <- Games, not lists:member(Number, Forfeited)],
    case get(games) == length(Games) of
        true -> ok;
        false -> put(games, length(Games)), say({games, get(user), Games})
    end,
    How = count(),
    judge(M, Ref, Kind, Dice, Own, How);
heard(queue, {dice, _, _, _} = First) ->
    Lying = case opt(order) of reverse -> others([First]); _ -> [First] end,
    case Lying of [_] -> ok; _ -> say({several, get(user), length(Lying)}) end,
    [turn(Tid, Gid, Dice) || {dice, Tid, Gid, Dice} <- Lying];
heard(queue, {tournament_over, _}) -> say({tournament_over, get(user)});
heard(_, Other) -> say({player_heard, get(user), Other}).

turn(Tid, Gid, Dice) ->
    case {roll(Tid, Gid, Dice), opt(sequential)} of
        {again, true} -> receive {dice, Tid, Gid, Next} -> turn(Tid, Gid, Next) end;
        _ -> ok
    end.

%% All dice that came meanwhile, the latest first.
others(Dice) ->
    receive {dice, _, _, _} = Next -> others([Next | Dice]) after 3 -> Dice end.

accept(Manager, _Tid, Make) ->
    Manager = get(manager),
    Pid = case opt(plays) of
        undefined -> self();
        other ->
            Kept = [{Key, get(Key)} || Key <- [agon, user, password, requests, opts, manager, ticket]],
            spawn(fun() -> [put(Key, Value) || {Key, Value} <- Kept], play(class) end)
    end,
    Answer = case opt(rejects) of true -> reject_tournament; _ -> accept_tournament end,
    Ticket = case opt(ticket) of bad -> make_ref(); _ -> get(ticket) end,
    Manager ! Make(Answer, Pid, Ticket),
    say({start_tournament, get(user)}).

%% The class protocol: keep what there is most of, fill the first box that is free.
act(M, Make, Variant, Ref, Tid, Gid, Roll, Dice, Card) ->
    5 = length(Dice),
    Keep = keep(Dice),
    Free = free(Card),
    Line = if Roll == 3 -> Free; Variant == tupled -> Free; true -> 0 end,
    Wrong = fun(Data) ->
        Message = Make(Keep, Line),
        setelement(tuple_size(Message), Message, Data)
    end,
    case count() of
        mute -> ok;
        fair -> M ! Make(Keep, Line);
        box_filled -> M ! Make(Keep, filled(Card));
        no_such_box -> M ! Make(Keep, 17);
        again -> M ! Make(Keep, 0);
        garbled -> M ! Make([true, maybe, 3], Line);
        roll -> M ! Wrong({Ref, Tid, Gid, Roll + 1, Keep, Line});
        stale -> M ! Wrong({get(stale), Tid, Gid, Roll, Keep, Line});
        foreign ->
            M ! Wrong({make_ref(), Tid, Gid, Roll, Keep, Line}),
            M ! Wrong({Ref, make_ref(), Gid, Roll, Keep, Line}),
            M ! Wrong({Ref, Tid, make_ref(), Roll, Keep, Line}),
            M ! Wrong({Ref, Tid, Gid, Roll, Keep, Line})
    end,
    put(stale, Ref).

keep(Dice) ->
    {_, Best} = lists:max([{length([D || D <- Dice, D == Die]), Die} || Die <- Dice]),
    [Die == Best || Die <- Dice].

free(Card) ->
    Free = [Line || {Line, -1} <- lists:zip(lists:seq(1, 13), lists:sublist(Card, 13))],
    case opt(boxes) of last -> lists:last(Free); _ -> hd(Free) end.

filled(Card) ->
    hd([Line || {Line, Points} <- lists:zip(lists:seq(1, 13), lists:sublist(Card, 13)), Points >= 0]).

%% A game that was played to its end: its cards are full, and make up the points.
full({_, Mine, Theirs, [Own, Other]}) ->
    [] = [Box || {Box, no_value} <- Own ++ Other],
    [Mine, Theirs] = [orddict:fetch(total, Card) || Card <- [Own, Other]],
    [true, true] = [sums(Card) || Card <- [Own, Other]].

%% The bonuses and the total of a card are what its boxes make.
sums(Card) ->
    Bonuses = orddict:fetch(yahtzee_bonuses, Card),
    orddict:fetch(yahtzee_bonus, Card) == 100 * Bonuses
        andalso orddict:fetch(total, Card) == sum(Card) + 100 * Bonuses.

sum(Card) ->
    Points = [{Box, Value} || {Box, Value} <- Card, lists:member(Box, ?BOXES), Value /= no_value],
    Upper = lists:sum([Value || {Box, Value} <- Points, lists:member(Box, lists:sublist(?BOXES, 6))]),
    Upper = orddict:fetch(upper_total, Card),
    Bonus = if Upper >= 63 -> 35; true -> 0 end,
    Bonus = orddict:fetch(upper_bonus, Card),
    lists:sum([Value || {_, Value} <- Points]) + Bonus.

%% The referee protocol.
judge(M, Ref, Kind, Dice, Own, How) ->
    Kept = [Die || {Die, true} <- lists:zip(Dice, keep(Dice))],
    Boxes = [Box || Box <- ?BOXES, orddict:fetch(Box, Own) == no_value],
    Box = case opt(boxes) of last -> lists:last(Boxes); _ -> hd(Boxes) end,
    {Answer, Choice} = case Kind of
        start_turn -> {first_modification_attempt, Kept};
        second_roll -> {second_modification_attempt, Kept};
        final_roll -> {score_selection, Box}
    end,
    case How of
        mute -> ok;
        fair -> M ! {Ref, Answer, Choice};
        keepers -> M ! {Ref, Answer, [7, 7]};
        box_filled -> M ! {Ref, Answer, hd(?BOXES -- Boxes)};
        no_such_box -> M ! {Ref, Answer, eights};
        again -> M ! {Ref, first_modification_attempt, Kept};
        garbled -> M ! {Ref, Answer, "nothing at all"};
        stale -> M ! {get(stale), Answer, Choice};
        foreign -> M ! {make_ref(), Answer, Choice}, M ! {Ref, Answer, Choice}
    end,
    put(stale, Ref).

%% The queue protocol: nobody says which roll it is, so it is remembered.
roll(Tid, Gid, Dice) ->
    {Rolls, Filled} = case get({Tid, Gid}) of undefined -> {0, []}; Known -> Known end,
    Again = [Die || {Die, false} <- lists:zip(Dice, keep(Dice))],
    Boxes = ?BOXES -- Filled,
    Box = case opt(boxes) of last -> lists:last(Boxes); _ -> hd(Boxes) end,
    Me = [get(user), get(password)],
    Say = fun(Rest) -> to(tournament_manager, list_to_tuple(Me ++ Rest)) end,
    How = count(),
    Scores = Rolls == 2 orelse Again == [] orelse lists:member(How, [box_filled, no_such_box, dice, points]),
    put({Tid, Gid}, case Scores of true -> {0, [Box | Filled]}; false -> {Rolls + 1, Filled} end),
    case How of
        mute -> ok;
        keepers -> Say([modification, Tid, Gid, [7]]);
        box_filled -> Say([end_turn, Dice, hd(Filled)]);
        no_such_box -> Say([end_turn, Dice, eights]);
        dice -> Say([end_turn, [6, 6, 6, 6, 6], Box]);
        points -> Say([end_turn, Dice, {Box, 299}]);
        garbled -> Say([end_turn, Dice, 17]);
        foreign -> Say([modification, make_ref(), Gid, []]), Say([modification, Tid, Gid, Again]);
        fair when Scores -> Say([end_turn, Dice, Box]);
        fair -> Say([modification, Tid, Gid, Again])
    end,
    case Scores of true -> ended; false -> again end.

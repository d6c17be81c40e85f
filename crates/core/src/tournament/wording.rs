//! The reasons of pairings and byes in the words of earlier versions. The log contains the reasons,
//! and old logs must still verify.

/// The words of an earlier version for a reason, if they were others.
pub(crate) fn earlier_wording(reason: &str) -> Option<String> {
    if let Some((stage, rest)) = reason.split_once("the players who advanced from ") {
        let (one, other) = rest.split_once(" and ")?;
        return Some(format!("{stage}who came through {one} meets who came through {other}"));
    }
    if let Some((stage, side)) = reason.split_once("no player advanced from ") {
        return Some(format!("{stage}nobody comes from {side}"));
    }
    if let Some(slots) = reason.strip_suffix(" are empty") {
        return Some(format!("{slots} hold byes: a bye advances"));
    }
    let known = reason.strip_suffix(" probability: their match tells most")?;
    Some(format!("{known}: their next match says most"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_versions_had_other_words_for_some_reasons() {
        let some = |reason: &str| Some(reason.to_owned());
        assert_eq!(
            earlier_wording("the final: the players who advanced from r1m1 and r1m2"),
            some("the final: who came through r1m1 meets who came through r1m2")
        );
        assert_eq!(
            earlier_wording("no player advanced from the other side of round 1"),
            some("nobody comes from the other side of round 1")
        );
        assert_eq!(
            earlier_wording("losers' bracket, round 1: no player advanced from the other side"),
            some("losers' bracket, round 1: nobody comes from the other side")
        );
        assert_eq!(
            earlier_wording("slots 5 and 6 are empty"),
            some("slots 5 and 6 hold byes: a bye advances")
        );
        assert_eq!(
            earlier_wording(
                "ann is stronger than bob with 60 % probability: their match tells most"
            ),
            some("ann is stronger than bob with 60 %: their next match says most")
        );
        assert_eq!(earlier_wording("everybody meets everybody: round 1 of 5"), None);
    }
}

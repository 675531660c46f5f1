//! Ascending lists of numbers, joined and intersected: who holds what.

/// How many numbers are in all of these ascending lists, counted up to a limit; none for no lists.
pub(super) fn common(mut lists: Vec<&[u32]>, limit: u32) -> u32 {
    lists.sort_unstable_by_key(|list| list.len());
    let Some((shortest, longer)) = lists.split_first_mut() else { return 0 };
    let mut count = 0;
    'numbers: for &number in shortest.iter() {
        for list in longer.iter_mut() {
            *list = from(list, number);
            match list.first() {
                Some(&first) if first == number => {}
                Some(_) => continue 'numbers,
                None => break 'numbers,
            }
        }
        count += 1;
        if count == limit {
            break;
        }
    }
    count
}

/// An ascending list from the first entry on that is not below a number: steps double, as it is mostly near.
pub(super) fn from(list: &[u32], number: u32) -> &[u32] {
    let mut end = 1;
    while list.get(end - 1).is_some_and(|&entry| entry < number) {
        end *= 2;
    }
    let window = &list[end / 2..end.min(list.len())];
    &list[end / 2 + window.partition_point(|&entry| entry < number)..]
}

/// Two ascending lists as one, each number once.
pub(super) fn union(one: &[u32], other: &[u32]) -> Vec<u32> {
    let mut both = Vec::with_capacity(one.len() + other.len());
    let (mut i, mut j) = (0, 0);
    while let (Some(&a), Some(&b)) = (one.get(i), other.get(j)) {
        both.push(a.min(b));
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    both.extend_from_slice(&one[i..]);
    both.extend_from_slice(&other[j..]);
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_joined_and_intersected_as_sets() {
        let lists: Vec<Vec<u32>> =
            (1..8).map(|step| (0..300).step_by(step).filter(|n| n % 5 != 3 || step > 4).collect()).collect();
        for one in &lists {
            for other in &lists {
                for third in &lists {
                    let both: Vec<&u32> = one.iter().filter(|n| other.contains(n) && third.contains(n)).collect();
                    for limit in [1, 7, 1000] {
                        assert_eq!(common(vec![one, other, third], limit), (both.len() as u32).min(limit));
                    }
                }
                let mut expected = [&one[..], other].concat();
                expected.sort_unstable();
                expected.dedup();
                assert_eq!(union(one, other), expected);
            }
        }
        assert_eq!(common(vec![&[1, 2], &[]], 5), 0);
        assert_eq!(common(vec![], 5), 0);
    }
}

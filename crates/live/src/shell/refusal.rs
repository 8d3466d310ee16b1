//! Explanation to the user when the kernel refuses namespaces.

use std::io;

/// Settings that forbid them to users: name, the value that does, and one that allows them.
const SWITCHES: [(&str, &str, &str); 2] =
    [("kernel.unprivileged_userns_clone", "0", "1"), ("kernel.apparmor_restrict_unprivileged_userns", "1", "0")];
/// Limits, for which the kernel returns `ENOSPC`. All but the first hold for root, too.
const LIMITS: [&str; 4] =
    ["user.max_user_namespaces", "user.max_mnt_namespaces", "user.max_pid_namespaces", "user.max_net_namespaces"];

/// The kernel's error with the setting that caused it.
pub fn refused(error: &io::Error) -> io::Error {
    explained(error, |name| std::fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok())
}

fn explained(error: &io::Error, setting: impl Fn(&str) -> Option<String>) -> io::Error {
    let is_at = |name: &str, value: &str| setting(name).is_some_and(|text| text.trim() == value);
    let remedy = if error.kind() == io::ErrorKind::StorageFull {
        match LIMITS.iter().find(|name| is_at(name, "0")) {
            Some(name) if *name == LIMITS[0] => format!("run as root, or allow it: sysctl {name}=10000"),
            Some(name) => format!("allow it: sysctl {name}=10000"),
            None => format!("one of these limits is reached: {}", LIMITS.join(", ")),
        }
    } else {
        match SWITCHES.iter().find(|(name, forbids, _)| is_at(name, forbids)) {
            Some((name, _, allows)) => format!("run as root, or allow it: sysctl {name}={allows}"),
            None => "run as root, with CAP_SYS_ADMIN".to_owned(),
        }
    };
    io::Error::new(error.kind(), format!("this system refuses namespaces ({error}): {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_setting_that_refuses() {
        let said = |kind: io::ErrorKind, off: &str| {
            let setting = |name: &str| {
                let (forbids, allows) = if name.contains("apparmor") { ("1\n", "0\n") } else { ("0\n", "512\n") };
                Some(if name == off { forbids } else { allows }.to_owned())
            };
            explained(&kind.into(), setting).to_string()
        };
        let (full, denied) = (io::ErrorKind::StorageFull, io::ErrorKind::PermissionDenied);
        assert!(said(full, "user.max_net_namespaces").ends_with(": allow it: sysctl user.max_net_namespaces=10000"));
        assert!(
            said(full, "user.max_user_namespaces").ends_with(": run as root, or allow it: sysctl user.max_user_namespaces=10000")
        );
        assert!(said(full, "").contains("user.max_pid_namespaces, "));
        let apparmor = "kernel.apparmor_restrict_unprivileged_userns";
        assert!(
            said(denied, apparmor).ends_with(": run as root, or allow it: sysctl kernel.apparmor_restrict_unprivileged_userns=0")
        );
        assert!(said(denied, "").ends_with(": run as root, with CAP_SYS_ADMIN"));
    }
}

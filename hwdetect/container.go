package hwdetect

import (
	"slices"
	"strings"
)

// container names what the process is packed in; empty outside of one. The
// marker files come first: with cgroup namespaces /proc/1/cgroup reads "/".
func container(t tree) string {
	// Kubernetes sets the address of its API server and mounts files of the pod, on
	// the node itself below the folder of the pods again.
	inPod := t.exists("run/secrets/kubernetes.io") || slices.ContainsFunc(parseMountinfo(t.bytes("proc/self/mountinfo")), func(m mount) bool {
		return strings.Contains(m.root, "/kubelet/pods/") && !strings.Contains(m.point, "/kubelet/pods/")
	})
	for v := range strings.SplitSeq(string(t.bytes("proc/1/environ")), "\x00") {
		if name, ok := strings.CutPrefix(v, "container="); ok && name != "" {
			return name // set by systemd-nspawn, lxc, podman
		}
		inPod = inPod || strings.HasPrefix(v, "KUBERNETES_SERVICE_HOST=")
	}
	switch {
	case t.exists("run/.containerenv"):
		return "podman"
	case t.exists(".dockerenv"):
		return "docker"
	case inPod:
		return "kubernetes"
	}
	for _, file := range []string{"proc/1/cgroup", "proc/self/cgroup"} {
		for _, group := range parseCgroup(t.bytes(file)) {
			for _, c := range []struct{ mark, name string }{
				{"/kubepods", "kubernetes"}, {"/docker", "docker"}, {"/libpod", "podman"},
				{"/lxc", "lxc"}, {"/machine.slice/machine-", "systemd-nspawn"}, {"containerd", "containerd"},
			} {
				// system.slice/docker.service is the daemon, not a container.
				if strings.Contains(group.path, c.mark) && !strings.HasSuffix(group.path, ".service") {
					return c.name
				}
			}
		}
	}
	return ""
}

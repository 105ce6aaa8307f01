package hwdetect

import (
	"maps"
	"testing"
)

func TestContainer(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"none", nil, ""},
		{"environment of nspawn", map[string]string{"proc/1/environ": "A=1\x00container=systemd-nspawn\x00"}, "systemd-nspawn"},
		{"docker", map[string]string{".dockerenv": ""}, "docker"},
		{"pod, by its token", map[string]string{"run/secrets/kubernetes.io/serviceaccount/token": "x"}, "kubernetes"},
		{"pod, by its environment", map[string]string{"proc/1/environ": "PATH=/bin\x00KUBERNETES_SERVICE_HOST=10.96.0.1\x00"}, "kubernetes"},
		{"pod, by its mounts", map[string]string{"proc/self/mountinfo": "1 2 8:1 /var/lib/kubelet/pods/7/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"}, "kubernetes"},
		{"node, which binds a part of a volume", map[string]string{"proc/self/mountinfo": "1 2 8:1 /var/lib/kubelet/pods/7/a /var/lib/kubelet/pods/7/volume-subpaths/a rw - ext4 /dev/sda1 rw\n"}, ""},
		{"node, whose kubelet mounts volumes of pods", map[string]string{"proc/self/mountinfo": "1 2 0:9 / /var/lib/kubelet/pods/7/volumes/token rw - tmpfs tmpfs rw\n"}, ""},
	} {
		files := map[string]string{"proc/1/cgroup": "0::/\n", "proc/self/cgroup": "0::/\n"}
		maps.Copy(files, c.files)
		if got := container(layout(t, files)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

package apiserver

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd starts etcd with its data in the directory data. It listens only on sockets in the
// directory run, which nobody else may enter, since etcd serves every client that can reach it. Unless
// keep is set, it does not sync data to the disk.
func startEtcd(ctx context.Context, data, run string, keep bool) (e *embed.Etcd, address string, err error) {
	socket := func(name string) url.URL { return url.URL{Scheme: "unix", Path: filepath.Join(run, name)} }
	clients, peers := socket("etcd.sock"), socket("peers.sock")
	config := embed.NewConfig()
	config.Dir = data
	config.LogLevel = "error"
	config.UnsafeNoFsync = !keep
	config.EnableGRPCGateway = false
	config.ListenClientUrls, config.ListenPeerUrls = []url.URL{clients}, []url.URL{peers}
	// The advertised address only has to be valid: there is no other member.
	nowhere := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.AdvertiseClientUrls, config.AdvertisePeerUrls = nowhere, nowhere
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	if e, err = embed.StartEtcd(config); err != nil {
		return nil, "", fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, clients.String(), nil
	case err = <-e.Err():
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.Close()
	return nil, "", fmt.Errorf("start etcd: %w", err)
}

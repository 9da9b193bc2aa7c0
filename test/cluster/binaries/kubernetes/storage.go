package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

const (
	provisioner     = "windlass.dev/node-disk"
	provisionerNote = "pv.kubernetes.io/provisioned-by"
)

// The storage part of a cluster of one node: a folder on its disk for each claim of its storage class, gone with the claim.
func newStorageCommand() *cobra.Command {
	var kubeconfig, folder string
	command := &cobra.Command{Use: "storage", SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return err
		}
		client, err := clientset.NewForConfig(config)
		if err != nil {
			return err
		}
		return newStorage(client, folder).run(genericserver.SetupSignalContext())
	}}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the file that says how to reach the API server")
	command.Flags().StringVar(&folder, "folder", "", "where the volumes lie")
	return command
}

type storage struct {
	client  clientset.Interface
	folder  string
	factory informers.SharedInformerFactory
}

func newStorage(client clientset.Interface, folder string) *storage {
	return &storage{client: client, folder: folder, factory: informers.NewSharedInformerFactory(client, time.Minute)}
}

// A pass over everything each half second is cheap at this size, and heals by itself.
func (s *storage) run(ctx context.Context) error {
	s.factory.Core().V1().PersistentVolumeClaims().Informer()
	s.factory.Core().V1().PersistentVolumes().Informer()
	s.factory.Storage().V1().StorageClasses().Informer()
	s.factory.Start(ctx.Done())
	s.factory.WaitForCacheSync(ctx.Done())
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := s.provideAll(ctx); err != nil {
			klog.ErrorS(err, "volumes could not be provided")
		}
		if err := s.removeReleased(ctx); err != nil {
			klog.ErrorS(err, "released volumes could not be removed")
		}
	}, 500*time.Millisecond)
	return nil
}

func (s *storage) provideAll(ctx context.Context) error {
	claims, err := s.factory.Core().V1().PersistentVolumeClaims().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if claim.Status.Phase != core.ClaimPending || claim.Spec.VolumeName != "" || claim.Spec.StorageClassName == nil || claim.DeletionTimestamp != nil {
			continue
		}
		class, err := s.factory.Storage().V1().StorageClasses().Lister().Get(*claim.Spec.StorageClassName)
		if err != nil || class.Provisioner != provisioner {
			continue
		}
		if err := s.provide(ctx, claim); err != nil && !errors.IsAlreadyExists(err) {
			return fmt.Errorf("%s/%s: %w", claim.Namespace, claim.Name, err)
		}
	}
	return nil
}

func (s *storage) provide(ctx context.Context, claim *core.PersistentVolumeClaim) error {
	name := "pvc-" + string(claim.UID)
	if _, err := s.factory.Core().V1().PersistentVolumes().Lister().Get(name); err == nil {
		return nil
	}
	path := filepath.Join(s.folder, name)
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	// Pods that are not root write here: the kubelet gives host paths no group of theirs.
	if err := os.Chmod(path, 0o777); err != nil {
		return err
	}
	kind := core.HostPathDirectory
	volume := &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: name, Annotations: map[string]string{provisionerNote: provisioner}},
		Spec: core.PersistentVolumeSpec{
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      core.ResourceList{core.ResourceStorage: claim.Spec.Resources.Requests[core.ResourceStorage]},
			StorageClassName:              *claim.Spec.StorageClassName,
			PersistentVolumeReclaimPolicy: core.PersistentVolumeReclaimDelete,
			PersistentVolumeSource:        core.PersistentVolumeSource{HostPath: &core.HostPathVolumeSource{Path: path, Type: &kind}},
			ClaimRef: &core.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}
	_, err := s.client.CoreV1().PersistentVolumes().Create(ctx, volume, meta.CreateOptions{})
	return err
}

func (s *storage) removeReleased(ctx context.Context) error {
	volumes, err := s.factory.Core().V1().PersistentVolumes().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	for _, volume := range volumes {
		released := volume.Status.Phase == core.VolumeReleased || volume.Status.Phase == core.VolumeFailed
		if !released || volume.Annotations[provisionerNote] != provisioner {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.folder, volume.Name)); err != nil {
			return err
		}
		err := s.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, meta.DeleteOptions{})
		if err != nil && !errors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

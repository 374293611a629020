import { Button, Menu, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { addressOf, viewOf, type SavedView } from './saved-view.js'
import { useAddress, usePlace } from '../kit/place.js'
import { messageOf } from '../kit/states.js'
import { onSubmit } from '../kit/on-submit.js'

interface Stored {
  readonly object_id: string
  readonly val: unknown
}

/** Views are objects of class `SavedView`, which the Weave SDK and its interface share. */
export const SavedViews = () => (
  <Menu position="bottom-end" width={280} closeOnItemClick={false}>
    <Menu.Target>
      <Button size="xs" variant="default">
        Views
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      <Views />
    </Menu.Dropdown>
  </Menu>
)

/** Asked for when the menu opens, and not before. */
const Views = () => {
  const { projectId } = usePlace()
  const [address, setAddress] = useAddress()
  const [label, setLabel] = useState('')
  const queries = useQueryClient()
  const key = ['saved views', projectId]
  const { data: views = [], isPending } = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const { objs } = await dataOf(
        api.POST('/objs/query', {
          body: { project_id: projectId, filter: { base_object_classes: ['SavedView'], latest_only: true } },
          signal,
        }),
      )
      return (objs as readonly Stored[]).map(({ object_id, val }) => ({ object_id, view: val as SavedView }))
    },
  })
  const save = useMutation({
    mutationFn: (name: string) =>
      dataOf(
        api.POST('/obj/create', {
          body: {
            obj: {
              project_id: projectId,
              object_id: objectIdOf(name),
              val: { ...viewOf(name, address) },
              builtin_object_class: 'SavedView',
            },
          },
        }),
      ),
    onSuccess: () => {
      setLabel('')
      void queries.invalidateQueries({ queryKey: key })
    },
  })
  const submit = onSubmit(() => {
    if (label.trim() !== '') save.mutate(label.trim())
  })
  return (
    <>
      {views.map(({ object_id, view }) => (
        <Menu.Item key={object_id} closeMenuOnClick onClick={() => setAddress(addressOf(view))}>
          {view.label}
        </Menu.Item>
      ))}
      {views.length === 0 && !isPending && <Menu.Label>No view is saved yet.</Menu.Label>}
      <Menu.Divider />
      <form onSubmit={submit} className="bar" style={{ padding: 4 }}>
        <TextInput
          size="xs"
          aria-label="Name of the view"
          placeholder="Save this view as"
          value={label}
          error={save.error === null ? undefined : messageOf(save.error)}
          onChange={(event) => setLabel(event.currentTarget.value)}
        />
        <Button size="xs" type="submit" loading={save.isPending}>
          Save
        </Button>
      </form>
    </>
  )
}

const objectIdOf = (name: string): string =>
  `view-${name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 100)}`

import { Button, Menu, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { savedViews } from './saved-view-data.js'
import { addressOf, USAGE_VIEW, viewOf, type SavedView } from './saved-view.js'
import type { Search } from '../kit/search.js'
import { useAddress, usePlace } from '../kit/place.js'
import { messageOf } from '../kit/states.js'
import { onSubmit } from '../kit/on-submit.js'

interface NamedView {
  readonly object_id: string
  readonly view: SavedView
}

/** What the views of a page are, and how they relate to its address. */
export interface ViewKind {
  readonly isOwn: (view: SavedView) => boolean
  readonly viewOf: (label: string, address: Search) => SavedView
  readonly addressOf: (view: SavedView) => Search
}

const TRACES: ViewKind = { isOwn: ({ view_type }) => view_type !== USAGE_VIEW, viewOf, addressOf }

/** Views are objects of class `SavedView`, which the Weave SDK and its interface share. */
export const SavedViews = ({ kind = TRACES }: { readonly kind?: ViewKind }) => (
  <Menu position="bottom-end" width={320} closeOnItemClick={false}>
    <Menu.Target>
      <Button size="xs" variant="default">
        Views
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      <Views kind={kind} />
    </Menu.Dropdown>
  </Menu>
)

/** Asked for when the menu opens, and not before. */
const Views = ({ kind }: { readonly kind: ViewKind }) => {
  const { projectId } = usePlace()
  const [address, setAddress] = useAddress()
  const [label, setLabel] = useState('')
  /** The view of the same name, while the user is asked. */
  const [replaced, setReplaced] = useState<NamedView>()
  const queries = useQueryClient()
  const stored = savedViews(projectId)
  const { data: views = [], isPending } = useQuery({
    ...stored,
    select: (all) => all.filter(({ view }) => kind.isOwn(view)),
  })
  const changed = () => void queries.invalidateQueries({ queryKey: stored.queryKey })
  const save = useMutation({
    mutationFn: ({ object_id, view }: NamedView) =>
      dataOf(
        api.POST('/obj/create', {
          body: {
            obj: { project_id: projectId, object_id, val: { ...view }, builtin_object_class: 'SavedView' },
          },
        }),
      ),
    onSuccess: () => {
      setLabel('')
      setReplaced(undefined)
      changed()
    },
  })
  const remove = useMutation({
    mutationFn: (object_id: string) =>
      dataOf(api.POST('/obj/delete', { body: { project_id: projectId, object_id } })),
    onSuccess: changed,
  })
  const name = label.trim()
  const submit = onSubmit(() => {
    if (name === '') return
    const known = views.find(({ view }) => view.label === name)
    if (known === undefined) save.mutate({ object_id: newId(), view: kind.viewOf(name, address) })
    else setReplaced(known)
  })
  return (
    <>
      {views.map((one) => (
        <ViewItem
          key={one.object_id}
          label={one.view.label}
          onOpen={() => setAddress(kind.addressOf(one.view))}
          onRename={(next) => save.mutate({ ...one, view: { ...one.view, label: next } })}
          onDelete={() => remove.mutate(one.object_id)}
        />
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
          onChange={(event) => {
            setLabel(event.currentTarget.value)
            setReplaced(undefined)
          }}
        />
        <Button size="xs" type="submit" loading={save.isPending}>
          Save
        </Button>
      </form>
      {replaced !== undefined && (
        <div className="bar" role="alert" style={{ padding: 4 }}>
          <span>“{replaced.view.label}” exists.</span>
          <Button
            size="xs"
            variant="default"
            onClick={() => save.mutate({ ...replaced, view: kind.viewOf(name, address) })}
          >
            Replace it
          </Button>
          <Button
            size="xs"
            variant="default"
            onClick={() => save.mutate({ object_id: newId(), view: kind.viewOf(name, address) })}
          >
            Keep both
          </Button>
        </div>
      )}
    </>
  )
}

interface ViewItemProps {
  readonly label: string
  readonly onOpen: () => void
  readonly onRename: (label: string) => void
  readonly onDelete: () => void
}

const ViewItem = ({ label, onOpen, onRename, onDelete }: ViewItemProps) => {
  const [state, setState] = useState<'shown' | 'renamed' | 'deleted'>('shown')
  const [name, setName] = useState(label)
  const submit = onSubmit(() => {
    setState('shown')
    if (name.trim() !== '' && name.trim() !== label) onRename(name.trim())
  })
  if (state === 'renamed')
    return (
      <form onSubmit={submit} className="bar" style={{ padding: 4 }}>
        <TextInput
          size="xs"
          aria-label={`New name of ${label}`}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button size="xs" type="submit">
          Rename
        </Button>
      </form>
    )
  if (state === 'deleted')
    return (
      <div className="bar" role="alert" style={{ padding: 4 }}>
        <span>Delete “{label}” for the team?</span>
        <Button size="xs" color="red" onClick={onDelete}>
          Delete
        </Button>
        <Button size="xs" variant="default" onClick={() => setState('shown')}>
          Keep
        </Button>
      </div>
    )
  return (
    <div className="view-item">
      <Menu.Item closeMenuOnClick onClick={onOpen}>
        {label}
      </Menu.Item>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Rename ${label}`}
        onClick={() => setState('renamed')}
      >
        Rename
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Delete ${label}`}
        onClick={() => setState('deleted')}
      >
        Delete
      </Button>
    </div>
  )
}

/** Not made of the name, which may have no letter that ids can have. */
const newId = (): string =>
  `view-${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`

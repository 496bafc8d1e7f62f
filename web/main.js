// Wires engine, store and views; the flow is link or form -> store -> request -> worker -> report -> views.
/** @import {Inputs} from './types.js' */
import { h } from './dom.js';
import { Answering } from './engine/answering.js';
import { SiteData } from './engine/site_data.js';
import { Form } from './form/form.js';
import { readJson } from './host.js';
import { showAnswers, showIssues } from './report/answers.js';
import { Dependence } from './report/dependence.js';
import { ExerciseView } from './report/exercise_view.js';
import { header } from './report/header.js';
import { InputsBar } from './report/inputs_bar.js';
import { showMeasured } from './report/measured.js';
import { faultsText, tell } from './report/notice.js';
import { showRemarks } from './report/remarks.js';
import { showSentence } from './report/sentence.js';
import { meaning } from './report/shortcuts.js';
import { drawTabs } from './report/tabs.js';
import { SCENES, sceneOf } from './scenes/index.js';
import { Stage } from './scenes/stage.js';
import { linkOf } from './state/address.js';
import { read } from './state/link.js';
import { LinkWriter } from './state/link_writer.js';
import { release } from './state/release.js';
import { choicesOf, useNewest, withoutIdle } from './state/scenario.js';
import { Store } from './state/store.js';
import { setInputs } from './text/inputs.js';
import { setOutputs } from './text/outputs.js';
import { t, usePseudoLocale } from './text/strings.js';

const byId = (id) => document.getElementById(id);
const scenes = SCENES.map(({ id }) => id);
const tabs = SCENES.filter(({ tabOf }) => !tabOf).map(({ id }) => id);

// What is fetched when it is first wanted, or once the first view stands.
const FETCHERS = {
  import_model: () => import('./report/import_model.js'),
  own_device: () => import('./report/own_device.js'),
  sheet: () => import('./report/sheet.js'),
  measured_dialog: () => import('./report/measured_dialog.js'),
  export_menu: () => import('./report/export_menu.js'),
  picker: () => import('./report/picker.js'),
  advice: () => import('./report/advice.js'),
  advising: () => import('./engine/advising.js'),
  help: () => import('./report/help.js'),
  hardware: () => import('./state/hardware.js'),
  step_curve: () => import('./scenes/step_curve.js'),
  users_curve: () => import('./scenes/users_curve.js'),
  releases: () => import('./releases/notice.js'),
};

const SOON_MS = 40;
const BEFORE_MS = 5000; // for which what was stands struck out beside what is

// Behind the first paint, so that what the first view does not need is not fetched before it.
const painted = () => new Promise((resolve) => (document.hidden ? resolve() : requestAnimationFrame(() => setTimeout(resolve, 100))));

class Page {
  answering = new Answering(() => this.drawScene());
  dependence = new Dependence(this.answering.engine);
  files = new SiteData((path) => {
    if (['lessons', 'method'].includes(this.store.scene) || path.startsWith('data/')) this.drawSoon();
  });
  showMemo = null; // draws the sizing memo while it is open
  isDescribed = false; // whether `described` is whole, and not only what the first view shows
  #parts = {};
  /** @type {Inputs} */
  #choices = {};
  #isOpening = false; // a picker is on its way, and keys are meant for it
  #catalogue = null;
  #rentals = [];
  #before = null; // the report before a change of advice, for a moment after the next is drawn
  #forgetting = 0;
  #soon = 0;
  #late = new Map(); // by name: what is fetched behind the first paint
  #advising = null;
  #sheet = null;

  async start() {
    if (location.hash.includes('?')) this.engine.open();
    const { described, catalogue, report } = await readJson('data/first_view.json');
    useNewest(described.defaults);
    const state = await read(location.hash, scenes);
    setOutputs(described.outputs);
    setInputs(described.inputs);
    sceneOf(state.scene).load?.();
    this.#rentals = catalogue.filter(({ kind }) => kind === 'rental');
    this.makeParts(described, catalogue, state);
    this.answering.know(described, this.form.presetPaths, report);
    this.engine.onbusy = (busy) => byId('content').setAttribute('aria-busy', String(busy));
    header(byId('actions'), this);
    this.exercise.take();
    if (this.exercise.shown.embedded) import('./report/embed.js').then(({ embed }) => embed(document.querySelector('.foot'), () => this.linkWith({})));
    this.drawTabs();
    this.listen();
    this.tellFaults(state.faults);
    this.form.openFor(this.store.scene);
    this.drawForm();
    await this.evaluate();
    this.tellRelease(state);
    painted()
      .then(() => this.describe())
      .catch((error) => this.notice(t('app.stopped', { message: error.message })));
    setTimeout(() => this.prefetch().catch(() => {}), 300);
  }

  makeParts(described, catalogue, state) {
    this.store = new Store(state, () => this.#choicesNow());
    const later = (module, name) => async () => (await FETCHERS[module]())[name](this);
    this.form = new Form(byId('form'), {
      store: this.store,
      described,
      catalogue,
      onconfig: later('import_model', 'importModel'),
      ondevice: () => this.ownDevice(),
      onpick: (path, id) => this.pick(path, id),
      onopen: (noun) => this.openPicker(noun),
      onfocus: () => this.inputsBar.open(),
    });
    this.inputsBar = new InputsBar(byId('inputs-bar'), { answers: byId('answers'), form: byId('form') });
    this.stage = new Stage(byId('content'), { store: this.store, context: () => this.context(), ondrawn: () => this.dependence.lightFigures() });
    const onreveal = () => {
      this.draw();
      this.stage.focus();
    };
    this.exercise = new ExerciseView(byId('exercise'), { store: this.store, form: this.form, onreveal });
    const { defaults, follows } = described;
    // The page answers what its link holds: what is not written any more may be chosen by the core.
    const tidy = () => {
      const tidied = withoutIdle(defaults, this.store.inputs, this.form.presetPaths, follows);
      if (tidied === this.store.inputs) return;
      this.store.tidy(tidied);
      this.evaluate();
    };
    this.link = new LinkWriter(this.store, tidy);
  }

  // What the core chose for the scenario, by path. Where a measurement moves it, the choice stays that of the run measured.
  #choicesNow() {
    const now = this.report ? { ...choicesOf('training', this.report), ...choicesOf('serving', this.report) } : {};
    if (Object.keys(now).length > 0) this.#choices = now;
    return this.#choices;
  }

  listen() {
    this.store.addEventListener('change', (/** @type {CustomEvent} */ { detail }) => this.changed(detail));
    this.store.addEventListener('solve', (/** @type {CustomEvent} */ { detail }) => this.solve(detail));
    window.addEventListener('popstate', () => this.follow());
    window.addEventListener('beforeprint', () => this.stage.draw());
    byId('answers').addEventListener('click', (event) => this.openScene(event) && this.stage.reveal());
    const light = ({ target }) => this.dependence.lightReached(this.request, target.closest?.('[data-path]')?.dataset.path);
    byId('form').addEventListener('pointerover', light);
    byId('form').addEventListener('pointerleave', () => this.dependence.lightReached(this.request, undefined));
    byId('form').addEventListener('focusin', light);
    document.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.stage.draw()).observe(byId('content'));
  }

  // What the scenes and dialogs ask of the page.
  get engine() {
    return this.answering.engine;
  }
  get report() {
    return this.answering.report;
  }
  get request() {
    return this.answering.request;
  }
  get described() {
    return this.answering.described;
  }
  get presetPaths() {
    return this.form.presetPaths;
  }
  requestFor = (inputs) => this.answering.requestFor(inputs);
  explain = (path = '*') => this.answering.explain(path);
  drawScene = () => (this.stage.draw(), this.showMemo?.());
  // One drawing for all that comes within a moment.
  drawSoon() {
    if (this.#soon) return;
    this.#soon = setTimeout(() => {
      this.#soon = 0;
      this.drawScene();
    }, SOON_MS);
  }
  nodesOf = (place, ghost) => this.stage.nodesOf(place, ghost);
  chosen = (key) => this.stage.chosen(key);
  choose = (key, value) => this.stage.choose(key, value);
  data = (path) => this.files.at(path);
  // A module that is fetched behind the first paint, after which the scene is drawn again; undefined until then.
  late(name) {
    if (!this.#late.has(name)) {
      this.#late.set(name, undefined);
      painted()
        .then(FETCHERS[name])
        .then((module) => {
          this.#late.set(name, module);
          this.drawScene();
        });
    }
    return this.#late.get(name);
  }
  // Advice on a question: {report, isFresh, isOf}, the report null until the first has come.
  adviceOn(question) {
    const module = this.late('advising');
    if (!module) return { report: null, isFresh: false, isOf: false };
    this.#advising ??= new module.Advising(this.drawScene);
    return this.#advising.on(question);
  }
  // After a change of advice the answers show for a moment what they were.
  showBefore(report) {
    clearTimeout(this.#forgetting);
    this.#forgetting = 0;
    this.#before = { ...report, faulty: new Set() };
  }

  #forgetBefore() {
    this.#forgetting = 0;
    this.#before = null;
    this.draw();
  }

  linkWith = (view) => linkOf({ ...this.store.state, view });
  notice = (...all) => tell(byId('notice'), ...all);

  // Null until there is a report.
  context() {
    const { report, issues, faulty, base, request, questions } = this.answering;
    if (!report) return null;
    const { store } = this;
    return {
      report,
      hidden: this.exercise.hidesAnswers,
      issues,
      faulty,
      base,
      store,
      request,
      page: this,
      scenario: report.scenario,
      inputs: store.inputs,
      width: Math.max(260, byId('content').clientWidth),
      ask: (...args) => questions.ask(...args),
      lately: (...args) => questions.lately(...args),
      why: (path) => this.why(path),
      hover: (path) => this.dependence.inputsOf(this.request, path, (inputs) => this.form.highlight(inputs)),
      open: (scene, sub) => store.open(scene, sub),
      toInput: (path) => this.form.focus(path),
    };
  }

  // Back, Forward, or a hash typed by hand.
  async follow() {
    const state = await read(location.hash, scenes);
    this.tellFaults(state.faults);
    this.store.load(state);
    this.tellRelease(state);
  }

  async solve(path) {
    const { openSolve } = await import('./form/solve.js');
    if (this.report) openSolve(this, path);
  }

  async why(path) {
    const { Sheet } = await FETCHERS.sheet();
    this.#sheet ??= new Sheet(byId('sheet'), {
      explain: (one) => this.explain(one),
      toInput: (one) => this.form.focus(one),
      hasInput: (one) => this.form.has(one),
    });
    this.#sheet.open(path);
  }

  changed({ push, source }) {
    if (source !== 'link') this.link.write(push);
    if (source === 'link' || source === 'view') this.exercise.take();
    if (source !== 'edit') this.form.openFor(this.store.scene);
    this.drawTabs();
    if (source === 'scene') this.stage.open();
    else if (this.answering.isOf(this.store.inputs)) this.stage.draw();
    else this.evaluate();
  }

  async evaluate() {
    try {
      const isLatest = await this.answering.evaluate(this.store.inputs, { onreport: () => this.draw(), onbase: () => this.drawForm() });
      if (isLatest && this.#sheet?.path) this.#sheet.refresh();
    } catch (error) {
      this.notice(t('app.stopped', { message: error.message }));
    }
  }

  draw() {
    const { report, issues, faulty } = this.answering;
    if (report) {
      this.stage.draw(); // first: it asks for its width while the page is still laid out
      if (this.#before) this.#forgetting ||= setTimeout(() => this.#forgetBefore(), BEFORE_MS);
      showAnswers(byId('answers'), { ...report, faulty, store: this.store, rentals: this.#rentals, before: this.#before });
      showMeasured(byId('answers').querySelector('.mine'), { scenario: report.scenario, store: this.store, onopen: () => this.openMeasured() });
      showSentence(byId('answers').querySelector('.say'), this.scenarioShown(), {
        inputs: this.store.inputs,
        onopen: (noun) => this.openPicker(noun),
        isLocked: this.store.isLocked,
      });
      this.inputsBar.show(report.scenario);
      showRemarks(byId('remarks'), report, this.form);
    }
    this.drawForm();
    const stale = issues.length > 0 && faulty.size === 0;
    showIssues(byId('issues'), { issues, form: this.form, store: this.store, stale });
  }

  // Parts left out because of their issues keep the values they last had, so that they can be put right.
  scenarioShown() {
    const { report, faulty, base } = this.answering;
    const scenario = { ...(report?.scenario ?? base ?? this.requestFor(this.store.inputs)) };
    for (const part of faulty) scenario[part] = this.#parts[part] ?? base?.[part] ?? this.requestFor(this.store.inputs)[part] ?? {};
    for (const part of Object.keys(scenario)) if (!faulty.has(part)) this.#parts[part] = scenario[part];
    return scenario;
  }

  drawForm() {
    const { issues, base } = this.answering;
    this.form.show({ inputs: this.store.inputs, scenario: this.scenarioShown(), report: this.report, standard: base, issues });
  }

  async openMeasured() {
    if (this.report) (await FETCHERS.measured_dialog()).openMeasured(this);
  }

  async pasteMeasurement() {
    if (this.report) (await import('./evidence/paste.js')).pasteMeasurement(this);
  }

  async ownDevice() {
    (await FETCHERS.own_device()).ownDevice(this);
  }

  async help() {
    (await FETCHERS.help()).openHelp();
  }

  async openPicker(noun) {
    this.#isOpening = true;
    try {
      const { openPicker } = await FETCHERS.picker();
      if (this.report) await openPicker(this, noun);
    } finally {
      this.#isOpening = false;
    }
  }

  // Inputs and outputs with what the first view leaves out.
  async describe() {
    const [whole] = await Promise.all([this.engine.ask('describe'), import('./form/texts.js')]); // with what the choices of the fields that are made next are called
    // First what the inputs are called: the fields that are made next are named so.
    setInputs(whole.inputs);
    setOutputs(whole.outputs);
    this.form.describe(whole.inputs);
    this.isDescribed = true;
    this.draw();
  }

  // The catalogue with what the first view leaves out: years, sizes, sources.
  async catalogue() {
    this.#catalogue ??= await this.engine.ask('presets', '');
    return this.#catalogue;
  }

  // Another catalogue entry. Another cluster or device keeps the count of devices, and where what was written of the mapping is no longer
  // legal it is chosen anew; what changed is said, with the way back.
  async pick(path, id) {
    if (this.store.isLocked(path)) return;
    if (path !== 'cluster' && path !== 'cluster.device') return this.store.pick(path, id);
    const { moved } = await FETCHERS.hardware();
    const { inputs, said } = await moved(this.answering, this.store.inputs, path, id);
    this.store.setInputs(inputs);
    const undo = h('button', { type: 'button', class: 'link', onclick: () => (this.store.undo(), (byId('notice').hidden = true)) }, t('pick.undo'));
    if (said.length) this.notice(said.join(' '), 15000, undo);
  }

  drawTabs() {
    document.body.className = document.body.className.replace(/\bat-\w+|$/, ` at-${this.store.scene}`).trim();
    const chosen = sceneOf(this.store.scene).tabOf?.(this.store.sub) ?? this.store.scene;
    drawTabs(byId('tabs'), { scenes: tabs, chosen, onopen: (event) => this.openScene(event) });
  }

  openScene(event) {
    const link = event.target.closest('[data-scene]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button > 0) return false;
    event.preventDefault();
    this.store.open(link.dataset.scene, link.dataset.sub);
    return true;
  }

  key(event) {
    const what = !this.#isOpening && meaning(event);
    if (!what) return;
    event.preventDefault();
    if (what === 'undo') this.store.undo() && this.notice(t('undo.done'), 2000);
    else if (what === 'help') this.help();
    else if (what === 'inputs') {
      this.inputsBar.open();
      /** @type {HTMLElement | null} */
      const first = byId('form').querySelector('select, input');
      first?.focus();
    }
    else if (['copy', 'keep', 'export'].includes(what)) byId(what === 'copy' ? 'copy-link' : what).click();
    else this.store.open(what);
  }

  tellFaults(faults) {
    if (faults.length) this.notice(faultsText(faults));
  }

  // A link of another release may have had other answers.
  async tellRelease(state) {
    if (state.faults.length || !state.release || state.release === release()) return;
    const { tellMoved } = await FETCHERS.releases();
    await tellMoved(this, state);
  }

  async keepOffline() {
    const { keepOffline } = await import('./state/offline.js');
    keepOffline((reload) => this.notice(t('offline.update'), 0, h('button', { type: 'button', class: 'link', onclick: reload }, t('offline.reload'))));
  }

  // Everything a scene may fetch later, so that the page works when the network is gone.
  async prefetch() {
    await this.keepOffline();
    for (const scene of SCENES) await scene.load?.();
    for (const fetched of Object.values(FETCHERS)) await fetched();
    this.form.addSources(await this.catalogue());
    this.drawForm();
    const lessons = await readJson('lessons/index.json');
    for (const path of ['lessons/index.json', ...lessons.map((id) => `lessons/${id}.json`), 'data/published.json', 'data/releases.json']) this.data(path);
  }
}

if (new URLSearchParams(location.search).get('lang') === 'pseudo') usePseudoLocale();
const page = new Page();
page.start().catch((error) => {
  const read = h('a', { href: 'lessons.html' }, t('app.read'));
  byId('answers').querySelector('.say').replaceChildren(t('app.broken', { message: error.message }), ' ', read);
});

// What a learner has done as one picture: the page of `lockstep lesson certificate -o F.png`.
#pragma once
#include <string>

#include "app/gui/widgets/draw.h"
#include "lessons/player/certificate/certificate.h"

namespace lockstep::gui {

void draw_certificate(Ui& ui, const lessons::Certificate& certificate, const std::string& name, const Rect& page);

}  // namespace lockstep::gui
